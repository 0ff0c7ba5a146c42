// What Foundation answers about texts, paths, numbers, data and files, as on a Mac.
#import <Foundation/Foundation.h>

#include "checking.h"

#define SAME(one, other) CHECK([(one) isEqual:(other)])

int main(void) {
  @autoreleasepool {
    SAME(([NSString stringWithFormat:@"%d %5.2f %s %@ %% %lu %x %c %-4d|%*d", -3, 2.5, "text", @[ @"a" ], 7ul, 255, 'z', 5, 4, 9]),
         @"-3  2.50 text (a) % 7 ff z 5   |   9");
    SAME(([@"a,b,,c" componentsSeparatedByString:@","]), (@[ @"a", @"b", @"", @"c" ]));
    SAME([@"  text \n" stringByTrimmingCharactersInSet:[NSCharacterSet whitespaceAndNewlineCharacterSet]], @"text");
    SAME([@"one two one" stringByReplacingOccurrencesOfString:@"one" withString:@"1"], @"1 two 1");
    CHECK([@"naïve 𝄞" length] == 8 && [@"𝄞" characterAtIndex:0] == 0xd834 && [@"𝄞" characterAtIndex:1] == 0xdd1e);
    SAME([@"naïve" substringFromIndex:3], @"ve");
    CHECK([@"naïve" rangeOfString:@"ve"].location == 3 && [@"x" rangeOfString:@"y"].location == NSNotFound);
    CHECK([@"42 is" intValue] == 42 && [@"-1.5e3" doubleValue] == -1500 && [@"YES" boolValue] && ![@"no" boolValue]);
    CHECK([@"b" compare:@"a"] == NSOrderedDescending && [@"A" caseInsensitiveCompare:@"a"] == NSOrderedSame);
    CHECK([@"text" hash] == [[NSString stringWithUTF8String:"text"] hash]);

    SAME([@"/a/b.c" lastPathComponent], @"b.c");
    SAME([@"/a/b.c" pathExtension], @"c");
    SAME([@"/a/b/" stringByDeletingLastPathComponent], @"/a");
    SAME([@"/a/./b/../c" stringByStandardizingPath], @"/a/c");
    SAME([@"/a" stringByAppendingPathComponent:@"b"], @"/a/b");
    SAME([@"/a/b" stringByAppendingPathExtension:@"metallib"], @"/a/b.metallib");
    SAME([NSString pathWithComponents:(@[ @"/", @"a", @"b" ])], @"/a/b");

    NSMutableString* grown = [NSMutableString stringWithString:@"ac"];
    [grown insertString:@"b" atIndex:1];
    [grown appendFormat:@"%d", 4];
    SAME(grown, @"abc4");

    SAME([@(1u << 31) stringValue], @"2147483648");
    SAME([@(0.5) stringValue], @"0.5");
    SAME(@YES, @1);
    CHECK([@(3.9) intValue] == 3 && ![@0 boolValue] && [@256 boolValue]);
    NSRange range = [[NSValue valueWithRange:NSMakeRange(3, 4)] rangeValue];
    CHECK(range.location == 3 && range.length == 4);

    NSScanner* scanner = [NSScanner scannerWithString:@"#include \"x.h\" rest"];
    NSString* word = nil;
    CHECK([scanner scanString:@"#include" intoString:nil] && [scanner scanString:@"\"" intoString:nil]);
    CHECK([scanner scanUpToString:@"\"" intoString:&word] && [word isEqual:@"x.h"] && ![scanner isAtEnd]);

    NSString* path = [NSTemporaryDirectory() stringByAppendingPathComponent:@"metalloid_strings_test"];
    NSError* error = nil;
    CHECK([@"contents" writeToFile:path atomically:YES encoding:NSUTF8StringEncoding error:&error]);
    SAME([NSString stringWithContentsOfFile:path encoding:NSUTF8StringEncoding error:&error], @"contents");
    NSFileManager* files = [NSFileManager defaultManager];
    BOOL is_folder = YES;
    CHECK([files fileExistsAtPath:path isDirectory:&is_folder] && !is_folder);
    SAME([[files attributesOfItemAtPath:path error:nil] objectForKey:NSFileSize], @8);
    CHECK([files removeItemAtPath:path error:nil] && ![files fileExistsAtPath:path]);
    CHECK(![NSString stringWithContentsOfFile:path encoding:NSUTF8StringEncoding error:&error]);
    SAME([error domain], NSCocoaErrorDomain);
    CHECK([error code] == 260);

    NSMutableDictionary* table = [NSMutableDictionary dictionary];
    for (int i = 0; i < 100; ++i) table[@(i)] = [NSString stringWithFormat:@"%d", i * i];
    for (int i = 0; i < 100; i += 3) [table removeObjectForKey:@(i)];
    CHECK([table count] == 66 && [table[@50] isEqual:@"2500"] && table[@51] == nil);
    CHECK([[[NSProcessInfo processInfo] arguments] count] == 1 && [[NSBundle mainBundle] resourcePath] != nil);
    CHECK([[NSProcessInfo processInfo] isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion){14, 0, 0}]);
  }
  NSLock* lock = [[NSLock alloc] init];
  CHECK([lock tryLock] && ![lock tryLock]);
  [lock unlock];
  [lock release];
  NSRecursiveLock* again = [[NSRecursiveLock alloc] init];
  CHECK([again tryLock] && [again tryLock]);
  [again unlock];
  [again unlock];
  [again release];
  NSCondition* condition = [[NSCondition alloc] init];
  __block BOOL came = NO;
  [condition lock];
  dispatch_async(dispatch_get_global_queue(0, 0), ^{
    [condition lock];
    came = YES;
    [condition signal];
    [condition unlock];
  });
  while (!came) [condition wait];
  [condition unlock];
  [condition release];
  @autoreleasepool {
    [condition = [[NSCondition alloc] init] lock];
    CHECK(![condition waitUntilDate:[NSDate dateWithTimeIntervalSinceNow:0.01]]);
    [condition unlock];
    [condition release];
  }
  puts("strings");
  return 0;
}
