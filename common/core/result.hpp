// A value or an Error. value() of a failed result ends the process: look first, or use BOOST_OUTCOME_TRY.
#pragma once

#include "common/core/error.hpp"

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/terminate.hpp>
#include <boost/outcome/success_failure.hpp>
#include <boost/outcome/try.hpp>

#include <string>
#include <utility>

namespace shoal {

template <typename T>
using Result = boost::outcome_v2::basic_result<T, Error, boost::outcome_v2::policy::terminate>;

using boost::outcome_v2::success;

// Where the first failure of a sequence ends it: `return failure(Errc::invalid, "…")`.
inline auto failure(Error error)
{
    return boost::outcome_v2::failure(std::move(error));
}
inline auto failure(Errc code, std::string message, std::string hint = {})
{
    return failure(Error{code, std::move(message), std::move(hint)});
}

}  // namespace shoal
