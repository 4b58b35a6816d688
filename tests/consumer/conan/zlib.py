# Stand-in for Conan Center's zlib: the system's.
from conan import ConanFile


class Zlib(ConanFile):
    name = "zlib"
    version = "1.3"

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "ZLIB")
        self.cpp_info.set_property("cmake_target_name", "ZLIB::ZLIB")
        self.cpp_info.includedirs = []
        self.cpp_info.system_libs = ["z"]
