// A run's page as a browser shows it: nothing on its console, nothing wider than a phone, something to see,
// in the light and in the dark. Skipped where chromium is not installed (group `full` of tools/packages.txt).
#include "cli/pair_run.h"
#include "cli/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace asmevo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

bool has_browser() {
  static const bool has = run_command({"sh", "-c", "command -v chromium"}).exit_code == 0;
  return has;
}

class Browser {
 public:
  explicit Browser(const TemporaryFolder& folder) : folder_(folder) {}

  Ran run(std::vector<std::string> options, const fs::path& page) const {
    std::vector<std::string> command = {"timeout",
                                        "120",
                                        "chromium",
                                        "--headless",
                                        "--no-sandbox",
                                        "--disable-gpu",
                                        "--disable-dev-shm-usage",
                                        "--hide-scrollbars",
                                        "--enable-logging=stderr",
                                        "--user-data-dir=" + (folder_ / "profile").string()};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back("file://" + page.string());
    return run_command(command);
  }

  Picture picture(const fs::path& page, unsigned width, bool dark) const {
    const fs::path png = folder_ / "page.png";
    std::vector<std::string> options = {"--screenshot=" + png.string(),
                                        fmt::format("--window-size={},1400", width)};
    if (dark) options.emplace_back("--blink-settings=preferredColorScheme=0");
    const Ran ran = run(options, page);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.err, Not(HasSubstr("CONSOLE"))) << ran.err;
    const auto bytes = read_file(png);
    const auto picture = bytes ? read_picture(*bytes) : std::nullopt;
    EXPECT_TRUE(picture) << ran.err;
    return picture.value_or(Picture());
  }

 private:
  const TemporaryFolder& folder_;
};

// A page with ours in a frame of that width, since windows of a browser are not as narrow as phones; its
// title becomes how wide ours would like to be.
std::string framed(const std::string& page, unsigned width) {
  std::string quoted;
  for (const char c : page) quoted += c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return fmt::format(
      "<!DOCTYPE html><meta name=\"color-scheme\" content=\"light dark\"><body style=\"margin:0\"><iframe "
      "id=f width={} height=1400 style=\"border:0\" srcdoc=\"{}\"></iframe><script>f.onload=()=>document."
      "title='width '+f.contentDocument.documentElement.scrollWidth</script>",
      width, quoted);
}

TEST(ReportPage, AsABrowserShowsIt) {
  if (!has_browser()) GTEST_SKIP() << "chromium is not installed";
  const TemporaryFolder folder;
  const fs::path page = pair_run(folder) / "report.html";
  const Browser browser(folder);
  for (const bool dark : {false, true}) {
    SCOPED_TRACE(dark ? "dark" : "light");
    for (const unsigned width : {1280U, 375U}) {
      SCOPED_TRACE(width);
      fs::path shown = page;
      if (width < 500) {
        shown = folder / "framed.html";
        ASSERT_TRUE(write_file(shown, framed(text_of(page), width)));
      }
      const Picture picture = browser.picture(shown, width < 500 ? 500 : width, dark);
      EXPECT_GT(picture.colours, 100U);
      if (dark)
        EXPECT_LT(picture.brightness, 90);
      else
        EXPECT_GT(picture.brightness, 180);
    }
  }
}

TEST(ReportPage, IsNoWiderThanAPhone) {
  if (!has_browser()) GTEST_SKIP() << "chromium is not installed";
  const TemporaryFolder folder;
  const std::string page = text_of(pair_run(folder) / "report.html");
  const Browser browser(folder);
  for (const unsigned width : {375U, 320U}) {
    ASSERT_TRUE(write_file(folder / "framed.html", framed(page, width)));
    const Ran ran = browser.run({"--dump-dom"}, folder / "framed.html");
    std::smatch found;
    ASSERT_TRUE(std::regex_search(ran.out, found, std::regex("<title>width ([0-9]+)"))) << ran.err;
    EXPECT_LE(std::stoul(found[1]), width);
  }
}

} // namespace
} // namespace asmevo::testing
