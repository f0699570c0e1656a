// Texts from outside, made harmless for a page: nothing in them ends an element or an attribute, starts a
// script, or turns the direction of what follows.
#pragma once

#include <string>
#include <string_view>

namespace asmevo::report {

/// For elements and quoted attributes, and for XML as well as HTML. Control characters are written as "\x0a",
/// those that turn the direction of text as "\u202e", bytes that are no UTF-8 as U+FFFD. Of more than
/// `longest` bytes the first, and an ellipsis.
std::string html_text(std::string_view text, size_t longest = std::string_view::npos);

/// The beginning of a page that needs nothing else and loads nothing, up to its main part, and its end.
/// `title`: made harmless already.
std::string page_begin(std::string_view title, std::string_view style);
inline constexpr std::string_view page_end = "</main>\n</body>\n</html>\n";

} // namespace asmevo::report
