// Data set of image files: a folder with a sub-folder for each class, or a list of files.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/core/text.hpp>
#include <castnet/data/detail/epoch_random.hpp>
#include <castnet/data/detail/in_threads.hpp>
#include <castnet/data/label.hpp>
#include <castnet/data/random_resized_crop.hpp>
#include <castnet/data/sample_error.hpp>
#include <castnet/image/file.hpp>
#include <castnet/image/resize.hpp>
#include <castnet/io/detail/shown.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <optional>

namespace castnet::image {

// How an image gets the size that the network takes.
enum class framing : std::uint8_t {
    stretch, // the whole image (Keras)
    middle   // the largest part with the right ratio, from the middle
};

enum class broken_files : std::uint8_t {
    fail, // castnet::error when such a file is read
    skip  // all files are decoded once at the beginning, and those that cannot be are left out
};

struct folder_options {
    // The sub-folders, in the order of their class numbers; empty: all of them, sorted by name.
    std::vector<std::string> classes{};
    framing frame = framing::stretch;
    // Instead: another part at random in every epoch, by numbers as those of augment(). No more of
    // a JPEG is decoded than it takes.
    std::optional<data::random_resized_crop> crop{};
    interpolation resizing = interpolation::bilinear;
    // JPEG files, or the parts of them, that are at least twice as large are decoded to a half, a
    // quarter or an eighth before (image::draft): quicker, to other pixels.
    bool drafts = false;
    // A number is byte * scale + offset; both are finite.
    double scale = 1.0 / 255, offset = 0;
    broken_files broken = broken_files::fail;
};

namespace detail {

namespace fs = std::filesystem;

inline bool is_image_name(fs::path const& path) {
    std::string ending = path.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

inline bool is_hidden(fs::path const& path) {
    return path.filename().string().starts_with('.');
}

// The sub-folders, sorted by name; hidden ones are left out.
[[gnu::noinline]] inline std::vector<std::string> folders_in(std::string const& root) try {
    std::vector<std::string> names;
    for (fs::directory_entry const& entry : fs::directory_iterator{root}) {
        if (entry.is_directory() && !is_hidden(entry.path())) {
            names.push_back(entry.path().filename().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
} catch (fs::filesystem_error const& e) {
    throw file_error(root, {"cannot list the folder: ", e.code().message()});
}

// Appends the folders that this one lies in, and itself, all without links.
[[gnu::noinline]] inline void append_above(std::vector<fs::path>& folders, fs::path const& folder) {
    fs::path here;
    for (fs::path const& part : fs::canonical(folder)) {
        here /= part;
        folders.push_back(here);
    }
}

// The images in a folder and the folders below it, sorted by path, without hidden ones, such as
// "._1.jpg" of macOS and what lies in .ipynb_checkpoints. Links to folders are followed, but not to
// one that they lie in; links to files that are missing count, so that reading them is an error.
[[gnu::noinline]] inline std::vector<std::string> images_in(std::string const& folder) try {
    std::vector<std::string> files;
    std::vector<fs::path> above;
    append_above(above, folder);
    append_above(above, fs::absolute(folder).parent_path()); // which differs for a link
    size_t const around = above.size();
    auto const follow = fs::directory_options::follow_directory_symlink;
    for (fs::recursive_directory_iterator entry{folder, follow}, end; entry != end; ++entry) {
        if (std::error_code none; entry->is_directory(none)) {
            above.resize(around + static_cast<size_t>(entry.depth()));
            fs::path here = fs::canonical(entry->path());
            if (is_hidden(entry->path()) ||
                std::find(above.begin(), above.end(), here) != above.end()) {
                entry.disable_recursion_pending();
            }
            above.push_back(std::move(here));
        } else if (is_image_name(entry->path()) && !is_hidden(entry->path())) {
            files.push_back(entry->path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
} catch (fs::filesystem_error const& e) {
    throw file_error(folder, {"cannot list the folder: ", e.code().message()});
}

[[gnu::noinline]] inline std::string list_of(std::vector<std::string> const& names) {
    std::string text;
    for (std::string const& name : names) {
        append(text, {text.empty() ? "" : ", ", io::detail::shown(name)});
    }
    return text;
}

} // namespace detail

// A file that cannot be read as an image, and why.
struct broken_file {
    std::string file, why;
};

// Images of shape Image (channels, height, width; one channel: grey), decoded when they are read,
// each with the number of its class. Copies share the list of files.
template <size_t Classes, Shape Image>
class folder {
    static_assert(Image::rank == 3 && (Image::extent[0] == 1 || Image::extent[0] == 3),
                  "castnet: images of files have a shape of channels, height and width, with one "
                  "channel (grey) or three");

public:
    using target_type = data::label<Classes>;
    static constexpr size_t input_count = 1;
    template <size_t>
    using input_shape = Image;

    // The .jpg, .jpeg and .png files in root/<class>/, and in folders below. Throws file_error if
    // there are not as many classes as the type says, or two of the same name, or none of their
    // files, or a folder cannot be listed.
    explicit folder(std::string const& root, folder_options const& options = {}) : folder{options} {
        contents& all = *contents_;
        all.names = options.classes.empty() ? detail::folders_in(root) : options.classes;
        if (all.names.size() != Classes) {
            std::string const names =
                all.names.empty() ? "" : string_of({" (", detail::list_of(all.names), ")"});
            throw file_error(root, {"found ", quantity(all.names.size(), "class", "classes"), names,
                                    ", expected ", Classes, ", a sub-folder for each"});
        }
        for (size_t c = 0; c < Classes; ++c) {
            auto const others = all.names.begin() + static_cast<std::ptrdiff_t>(c);
            if (std::find(all.names.begin(), others, all.names[c]) != others) {
                throw file_error(root, {"the class ", io::detail::shown(all.names[c]),
                                        " was given twice, expected a sub-folder for each"});
            }
            std::string const below = string_of({root, '/', all.names[c]});
            std::vector<std::string> files = detail::images_in(below);
            if (files.empty()) {
                throw file_error(below, "found no .jpg, .jpeg or .png file of this class");
            }
            all.labels.insert(all.labels.end(), files.size(), static_cast<int>(c));
            std::move(files.begin(), files.end(), std::back_inserter(all.files));
        }
        leave_out_broken();
    }

    // These files and the numbers of their classes. Throws castnet::error unless there is one
    // label from 0 to Classes - 1 for each file, and a name for each class or for none.
    folder(std::vector<std::string> files, std::vector<int> labels,
           folder_options const& options = {})
        : folder{options} {
        if (files.size() != labels.size()) {
            throw error({"castnet: image::folder: found ", quantity(files.size(), "file"), " and ",
                         quantity(labels.size(), "label"), ", expected as many of both"});
        }
        for (size_t i = 0; i < labels.size(); ++i) {
            if (labels[i] < 0 || labels[i] >= static_cast<int>(Classes)) {
                throw error({"castnet: image::folder: the label of ", files[i], " is ", labels[i],
                             ", expected a number from 0 to ", Classes - 1});
            }
        }
        if (!options.classes.empty() && options.classes.size() != Classes) {
            throw error({"castnet: image::folder: found ", quantity(options.classes.size(), "name"),
                         " of classes (", detail::list_of(options.classes), "), expected ", Classes,
                         ", or none"});
        }
        contents_->names = options.classes;
        contents_->files = std::move(files);
        contents_->labels = std::move(labels);
        leave_out_broken();
    }

    size_t size() const { return contents_->files.size(); }

    // Throws file_error for a file that cannot be decoded.
    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        folder_options const& options = contents_->options;
        constexpr size_t channels = Image::extent[0], height = Image::extent[1];
        constexpr size_t width = Image::extent[2];
        bitmap const image = framed(sample);
        T const scale = T(options.scale), offset = T(options.offset);
        for (size_t i = 0; i < height * width; ++i) {
            for (size_t c = 0; c < channels; ++c) {
                out[c * height * width + i] = T(image.pixels[i * channels + c]) * scale + offset;
            }
        }
    }
    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        data::detail::check_sample("image::folder", sample, size());
        *out = T(contents_->labels[sample]);
    }

    void begin_epoch(data::epoch const& e) const {
        if (changes_with_epoch()) {
            random_.begin(e);
        }
    }
    void begin_step() const {}
    void end_epoch() const {
        if (changes_with_epoch()) {
            random_.end();
        }
    }
    bool changes_with_epoch() const { return contents_->options.crop.has_value(); }

    std::string const& file(size_t sample) const {
        data::detail::check_sample("image::folder", sample, size());
        return contents_->files[sample];
    }
    // In the order of their numbers; empty for a list of files, unless the options named them.
    std::vector<std::string> const& class_names() const { return contents_->names; }
    // The files that broken_files::skip left out.
    std::vector<broken_file> const& broken() const { return contents_->broken; }

private:
    struct contents {
        folder_options options;
        std::vector<std::string> names, files;
        std::vector<int> labels;
        std::vector<broken_file> broken;
    };

    explicit folder(folder_options const& options) : contents_{std::make_shared<contents>()} {
        contents_->options = options;
        castnet::detail::check_hyperparameters(
            "image::folder", {{"scale", options.scale, hyperparameter::finite},
                              {"offset", options.offset, hyperparameter::finite}});
    }

    // The image in its final size. Not inlined: compilers take what calls a cold function for cold,
    // and would make no vectors of what is done with the image.
    [[gnu::noinline]] bitmap framed(size_t sample) const {
        folder_options const& options = contents_->options;
        constexpr size_t channels = Image::extent[0], height = Image::extent[1];
        constexpr size_t width = Image::extent[2];
        draft const to = options.drafts ? draft{width, height} : draft{};
        if (options.crop) {
            constexpr std::uint32_t purpose = 0x72657369; // "resi"
            auto random = random_.of(purpose, sample);
            auto const draw = [&](size_t columns, size_t rows) {
                return options.crop->draw(columns, rows, random);
            };
            return resize(read_part(file(sample), channels, draw, to), width, height,
                          options.resizing);
        }
        bitmap const image = read(file(sample), channels, to);
        rectangle const part = options.frame == framing::middle
                                   ? middle_of(image, width, height)
                                   : whole_image(image.width, image.height);
        return resize(image, width, height, options.resizing, part);
    }

    [[gnu::noinline]] void leave_out_broken() {
        contents& all = *contents_;
        if (all.options.broken != broken_files::skip) {
            return;
        }
        std::vector<std::string> why(all.files.size());
        data::detail::for_each_in_threads(all.files.size(), [&](size_t i) {
            try {
                read(all.files[i], Image::extent[0]);
            } catch (std::exception const& e) {
                why[i] = e.what();
            }
        });
        size_t kept = 0;
        for (size_t i = 0; i < all.files.size(); ++i) {
            if (why[i].empty()) {
                all.labels[kept] = all.labels[i];
                std::swap(all.files[kept++], all.files[i]);
            } else {
                all.broken.push_back({all.files[i], why[i]});
            }
        }
        all.files.resize(kept);
        all.labels.resize(kept);
    }

    std::shared_ptr<contents> contents_;
    data::detail::epoch_random random_{"image::folder"};
};

} // namespace castnet::image
