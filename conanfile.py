# Conan 2 recipe of castnet: the headers, and a component for each optional package.
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy
from conan.tools.layout import basic_layout


class Castnet(ConanFile):
    name = "castnet"
    description = "Neural networks, cast at compile time"
    license = "MIT"
    topics = ("neural-network", "deep-learning", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "with_openmp": [True, False],
        "with_zlib": [True, False],
        "with_image": [True, False],
    }
    default_options = {"with_openmp": True, "with_zlib": False, "with_image": False}
    exports_sources = "include/*", "LICENSE"
    no_copy_source = True

    def set_version(self):
        header = Path(self.recipe_folder, "include/castnet/version.hpp").read_text()
        self.version = ".".join(re.findall(r"#define CASTNET_VERSION_\w+ (\d+)", header))

    def layout(self):
        basic_layout(self)

    def requirements(self):
        if self.options.with_zlib:
            self.requires("zlib/[>=1.2.11 <2]")
        if self.options.with_image:
            self.requires("libjpeg-turbo/[>=2.1 <4]")
            self.requires("libpng/[>=1.6 <2]")

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "*.hpp", Path(self.source_folder, "include"), Path(self.package_folder, "include"))
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "castnet")
        self.cpp_info.set_property("cmake_target_name", "castnet::all")
        self._component("castnet")
        if self.options.with_openmp:
            openmp = self._component("openmp", "castnet")
            openmp.cxxflags = openmp.exelinkflags = openmp.sharedlinkflags = ["-fopenmp"]
        if self.options.with_zlib:
            self._component("zlib", "castnet", "zlib::zlib").defines = ["CASTNET_HAS_ZLIB=1"]
        if self.options.with_image:
            self._component("image", "castnet", "libjpeg-turbo::jpeg", "libpng::libpng")

    # castnet::<name> of CMake; of pkg-config castnet, or castnet-<name>
    def _component(self, name, *requires):
        component = self.cpp_info.components[name]
        component.set_property("cmake_target_name", f"castnet::{name}")
        component.set_property("pkg_config_name", name if name == "castnet" else f"castnet-{name}")
        component.requires = list(requires)
        component.bindirs = component.libdirs = []
        return component
