// What most subcommands include; precompiled by the build.
#pragma once

#include <CLI/CLI.hpp>

#include "support/precompiled.h"
