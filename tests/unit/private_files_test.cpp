// What the cache's files must be so that they are loaded.
#include "support/private_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "support/files.h"

namespace metalloid::support {
namespace private_files_test {

namespace fs = std::filesystem;

class PrivateFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "metalloid-private-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root = name;
    folder = root / "cache" / "kernels";
    ASSERT_TRUE(write_private_file(folder, key, "some payload"));
    file = private_file(folder, key);
  }
  void TearDown() override { fs::remove_all(root); }

  bool is_loaded() const {
    const auto payload = read_private_file(folder, key);
    return payload && payload->view() == "some payload";
  }
  static mode_t mode(const fs::path& path) {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }

  const Hash key{0x1234, 0xabcd};
  fs::path root, folder, file;
};

TEST_F(PrivateFiles, AreForTheirUserOnly) {
  EXPECT_TRUE(is_loaded());
  EXPECT_EQ(mode(file), 0600u);
  EXPECT_EQ(mode(folder), 0700u);
  EXPECT_EQ(mode(folder.parent_path()), 0700u);
}

TEST_F(PrivateFiles, AlteredAndCutOffOnesAreNotLoaded) {
  const std::string bytes = read_file(file);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string altered = bytes;
    altered[i] ^= 1;
    std::ofstream(file, std::ios::binary) << altered;
    EXPECT_FALSE(is_loaded()) << "byte " << i;
    std::ofstream(file, std::ios::binary) << bytes.substr(0, i);
    EXPECT_FALSE(is_loaded()) << "length " << i;
  }
}

TEST_F(PrivateFiles, AnEntryUnderAnotherNameIsNotLoaded) {
  const Hash other{1, 2};
  fs::copy_file(file, private_file(folder, other));
  EXPECT_FALSE(read_private_file(folder, other));
}

TEST_F(PrivateFiles, WhatOthersCouldHaveWrittenIsNotLoaded) {
  for (const mode_t bit : {S_IWGRP, S_IWOTH}) {
    ASSERT_EQ(::chmod(file.c_str(), 0600 | bit), 0);
    EXPECT_FALSE(is_loaded());
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    ASSERT_EQ(::chmod(folder.c_str(), 0700 | bit), 0);
    EXPECT_FALSE(is_loaded());
    ASSERT_TRUE(write_private_file(folder, key, "some payload"));  // closes the folder
    EXPECT_TRUE(is_loaded());
  }
  ASSERT_EQ(::chmod(folder.parent_path().c_str(), 0777), 0);
  EXPECT_FALSE(is_loaded());
  EXPECT_FALSE(write_private_file(folder, key, "some payload"));
  ASSERT_EQ(::chmod(folder.parent_path().c_str(), 01777), 0);
  EXPECT_TRUE(is_loaded());
}

TEST_F(PrivateFiles, LinksAndOtherKindsOfFilesAreNotLoaded) {
  fs::rename(file, root / "elsewhere");
  fs::create_symlink(root / "elsewhere", file);
  EXPECT_FALSE(is_loaded());
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(is_loaded());  // and does not wait for a writer
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(is_loaded());
  fs::remove(file);
  fs::rename(root / "elsewhere", file);
  EXPECT_TRUE(is_loaded());
  fs::rename(folder, root / "elsewhere");
  fs::create_directory_symlink(root / "elsewhere", folder);
  EXPECT_FALSE(is_loaded());
  EXPECT_FALSE(write_private_file(folder, key, "some payload"));
}

TEST_F(PrivateFiles, HugeOnesAreNotRead) {
  fs::resize_file(file, std::uintmax_t{1} << 40);
  EXPECT_FALSE(is_loaded());
}

TEST_F(PrivateFiles, WhatAnotherUserOwnsIsNotLoaded) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t somebody = 12345;
  ASSERT_EQ(::chown(file.c_str(), somebody, somebody), 0);
  EXPECT_FALSE(is_loaded());
  ASSERT_EQ(::chown(file.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(folder.c_str(), somebody, somebody), 0);
  EXPECT_FALSE(is_loaded());
  EXPECT_FALSE(write_private_file(folder, key, "some payload"));
  ASSERT_EQ(::chown(folder.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(folder.parent_path().c_str(), somebody, somebody), 0);
  EXPECT_FALSE(is_loaded());
}

// What a new process gets when it takes the lock, which it keeps until it is told to end, if at all.
class Taker {
 public:
  explicit Taker(const std::function<PrivateLock::Taken()>& take) {
    int results[2], ends[2];
    if (::pipe(results) != 0 || ::pipe(ends) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[1]);
      const PrivateLock::Taken taken = take();
      char end;
      if (::write(results[1], &taken, sizeof(taken)) == sizeof(taken)) (void)!::read(ends[0], &end, 1);
      ::_exit(0);  // without letting go
    }
    ::close(results[1]);
    ::close(ends[0]);
    if (::read(results[0], &taken, sizeof(taken)) != sizeof(taken)) ADD_FAILURE() << "no result";
    ::close(results[0]);
    end_ = ends[1];
  }
  ~Taker() {
    ::close(end_);
    ::waitpid(process_, nullptr, 0);
  }

  PrivateLock::Taken taken = PrivateLock::Taken::impossible;

 private:
  pid_t process_ = 0;
  int end_ = -1;
};

TEST_F(PrivateFiles, LocksAreHeldByOneProcess) {
  const fs::path locks = root / "cache" / "turns";
  const auto take = [&] {
    static PrivateLock lock;
    return lock.take(locks, key);
  };
  {
    const Taker first(take);
    EXPECT_EQ(first.taken, PrivateLock::Taken::yes);
    EXPECT_EQ(Taker(take).taken, PrivateLock::Taken::by_another);
    EXPECT_EQ(PrivateLock().take(locks, Hash{1, 2}), PrivateLock::Taken::yes);
  }
  {
    PrivateLock lock;
    EXPECT_EQ(lock.take(locks, key), PrivateLock::Taken::yes);  // of a process that ended without a word
    EXPECT_EQ(Taker(take).taken, PrivateLock::Taken::by_another);
  }
  EXPECT_TRUE(fs::is_empty(locks));
  EXPECT_EQ(Taker(take).taken, PrivateLock::Taken::yes);
  EXPECT_EQ(PrivateLock().take(file / "no folder", key), PrivateLock::Taken::impossible);
}

}  // namespace private_files_test
}  // namespace metalloid::support
