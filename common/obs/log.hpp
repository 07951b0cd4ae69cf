// Log lines on stderr, text or JSON. Any thread. Never a secret.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::obs {

enum class Level { debug, info, warning, error };
enum class Format { text, json };

void configure_log(Level level, Format format);

using Fields = std::vector<std::pair<std::string_view, std::string>>;

// "2026-01-02T03:04:05.678Z info  fetch resolved model=llama revision=sha256:…"
void log(Level level, std::string_view message, const Fields& fields = {});

}  // namespace shoal::obs
