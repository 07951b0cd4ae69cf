#include "common/model/names.hpp"

#include <fnmatch.h>

namespace shoal::model {

bool glob_matches(const std::string& glob, const std::string& path)
{
    const std::string whole = glob.ends_with('/') ? glob + "*" : glob;
    return ::fnmatch(whole.c_str(), path.c_str(), FNM_NOESCAPE) == 0;
}

}  // namespace shoal::model
