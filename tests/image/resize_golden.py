# Prints the rows of the tables in resize.cpp, made by Pillow: python3 resize_golden.py
from PIL import Image; import numpy as np
def make(w,h,c):
    i=np.arange(w*h*c,dtype=np.uint64)
    a=((i*37+i*i*11) %251).astype('uint8').reshape(h,w,c)
    return Image.fromarray(a[...,0] if c==1 else a)
def fnv(b):
    h=0xcbf29ce484222325
    for x in b: h=((h^x)*0x100000001b3)&(2**64-1)
    return h
K={'nearest':0,'bilinear':2,'bicubic':3,'area':4}
for (w,h,c,W,H,box) in [(23,17,3,8,8,None),(23,17,3,40,31,None),(23,17,1,23,9,None),(50,40,3,7,40,None),(64,48,3,32,32,(8,0,56,48)),(31,29,1,64,10,(3,5,20,27)),(1,1,3,5,4,None),(500,333,3,224,224,None)]:
    im=make(w,h,c)
    for k,n in K.items():
        r=im.resize((W,H),n,box=box)
        b=box or (0,0,w,h)
        print(f'    {{{w}, {h}, {c}, {W}, {H}, {{{b[0]}, {b[1]}, {b[2]-b[0]}, {b[3]-b[1]}}}, {k}, 0x{fnv(r.tobytes()):016x}}},')
im=make(23,17,3)
for o,m in [(2,0),(3,3),(4,1),(5,5),(6,4),(7,6),(8,2)]:
    # exif orientation -> PIL transpose method as ImageOps.exif_transpose
    t={2:Image.Transpose.FLIP_LEFT_RIGHT,3:Image.Transpose.ROTATE_180,4:Image.Transpose.FLIP_TOP_BOTTOM,5:Image.Transpose.TRANSPOSE,6:Image.Transpose.ROTATE_270,7:Image.Transpose.TRANSVERSE,8:Image.Transpose.ROTATE_90}[o]
    print(f'    {{{o}, 0x{fnv(im.transpose(t).tobytes()):016x}}},')
print(hex(fnv(im.convert('L').tobytes())))
