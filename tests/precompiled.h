// What nearly every test includes; precompiled by the build.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/precompiled.h"
