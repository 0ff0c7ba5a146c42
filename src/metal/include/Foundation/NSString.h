// Texts, paths, and what reads them.
#pragma once

#import <Foundation/NSObjCRuntime.h>

typedef NSUInteger NSStringEncoding;
enum : NSStringEncoding { NSASCIIStringEncoding = 1, NSUTF8StringEncoding = 4, NSISOLatin1StringEncoding = 5 };
typedef NS_OPTIONS(NSUInteger, NSStringCompareOptions) {
  NSCaseInsensitiveSearch = 1,
  NSLiteralSearch = 2,
  NSBackwardsSearch = 4,
  NSAnchoredSearch = 8,
};
typedef NSString* NSErrorDomain;
typedef NSString* NSErrorUserInfoKey;
@class NSCharacterSet;

// In UTF-8; lengths and places count UTF-16's units, as everywhere in Foundation.
@interface NSString : NSObject <NSCopying, NSMutableCopying>
+ (instancetype)string;
+ (instancetype)stringWithUTF8String:(const char*)text;
+ (instancetype)stringWithCString:(const char*)text encoding:(NSStringEncoding)encoding;
+ (instancetype)stringWithFormat:(NSString*)format, ... __attribute__((format(__NSString__, 1, 2)));
+ (instancetype)stringWithString:(NSString*)string;
+ (instancetype)stringWithContentsOfFile:(NSString*)path encoding:(NSStringEncoding)encoding error:(NSError**)error;
+ (instancetype)stringWithContentsOfURL:(NSURL*)url encoding:(NSStringEncoding)encoding error:(NSError**)error;
- (instancetype)initWithUTF8String:(const char*)text;
- (instancetype)initWithString:(NSString*)string;
- (instancetype)initWithCString:(const char*)text encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytesNoCopy:(void*)bytes
                             length:(NSUInteger)length
                           encoding:(NSStringEncoding)encoding
                       freeWhenDone:(BOOL)frees;
- (instancetype)initWithData:(NSData*)data encoding:(NSStringEncoding)encoding;
- (instancetype)initWithFormat:(NSString*)format, ... __attribute__((format(__NSString__, 1, 2)));
- (instancetype)initWithFormat:(NSString*)format arguments:(va_list)arguments;
- (instancetype)initWithContentsOfFile:(NSString*)path encoding:(NSStringEncoding)encoding error:(NSError**)error;
@property(readonly) const char* UTF8String;
- (const char*)cStringUsingEncoding:(NSStringEncoding)encoding;
- (const char*)fileSystemRepresentation;
@property(readonly) NSUInteger length;
- (unichar)characterAtIndex:(NSUInteger)index;
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (NSUInteger)maximumLengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)getCString:(char*)buffer maxLength:(NSUInteger)size encoding:(NSStringEncoding)encoding;
- (NSData*)dataUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)writeToFile:(NSString*)path atomically:(BOOL)atomically encoding:(NSStringEncoding)encoding error:(NSError**)error;
- (BOOL)isEqualToString:(NSString*)other;
- (NSComparisonResult)compare:(NSString*)other;
- (NSComparisonResult)caseInsensitiveCompare:(NSString*)other;
- (BOOL)hasPrefix:(NSString*)prefix;
- (BOOL)hasSuffix:(NSString*)suffix;
- (BOOL)containsString:(NSString*)other;
- (NSRange)rangeOfString:(NSString*)other;
- (NSRange)rangeOfString:(NSString*)other options:(NSStringCompareOptions)options;
- (NSString*)stringByAppendingString:(NSString*)other;
- (NSString*)stringByAppendingFormat:(NSString*)format, ... __attribute__((format(__NSString__, 1, 2)));
- (NSString*)stringByReplacingOccurrencesOfString:(NSString*)what withString:(NSString*)by;
- (NSString*)stringByTrimmingCharactersInSet:(NSCharacterSet*)set;
- (NSArray<NSString*>*)componentsSeparatedByString:(NSString*)separator;
- (NSString*)substringToIndex:(NSUInteger)end;
- (NSString*)substringFromIndex:(NSUInteger)begin;
- (NSString*)substringWithRange:(NSRange)range;
@property(readonly, copy) NSString* lowercaseString;
@property(readonly, copy) NSString* uppercaseString;
@property(readonly) double doubleValue;
@property(readonly) float floatValue;
@property(readonly) int intValue;
@property(readonly) NSInteger integerValue;
@property(readonly) long long longLongValue;
@property(readonly) BOOL boolValue;
@end

@interface NSString (NSStringPathExtensions)
+ (NSString*)pathWithComponents:(NSArray<NSString*>*)components;
@property(readonly, copy) NSArray<NSString*>* pathComponents;
@property(readonly, copy) NSString* lastPathComponent;
@property(readonly, copy) NSString* pathExtension;
@property(readonly, getter=isAbsolutePath) BOOL absolutePath;
@property(readonly, copy) NSString* stringByDeletingLastPathComponent;
@property(readonly, copy) NSString* stringByDeletingPathExtension;
@property(readonly, copy) NSString* stringByStandardizingPath;
@property(readonly, copy) NSString* stringByResolvingSymlinksInPath;
@property(readonly, copy) NSString* stringByExpandingTildeInPath;
- (NSString*)stringByAppendingPathComponent:(NSString*)component;
- (NSString*)stringByAppendingPathExtension:(NSString*)extension;
@end

@interface NSMutableString : NSString
+ (instancetype)stringWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)appendString:(NSString*)other;
- (void)appendFormat:(NSString*)format, ... __attribute__((format(__NSString__, 1, 2)));
- (void)setString:(NSString*)other;
- (void)insertString:(NSString*)other atIndex:(NSUInteger)index;
- (void)deleteCharactersInRange:(NSRange)range;
- (void)replaceCharactersInRange:(NSRange)range withString:(NSString*)other;
@end

// Literals, @"...": laid out by the compiler.
@interface NSConstantString : NSString
@end

@interface NSCharacterSet : NSObject <NSCopying>
+ (NSCharacterSet*)whitespaceCharacterSet;
+ (NSCharacterSet*)whitespaceAndNewlineCharacterSet;
+ (NSCharacterSet*)newlineCharacterSet;
+ (NSCharacterSet*)decimalDigitCharacterSet;
+ (NSCharacterSet*)characterSetWithCharactersInString:(NSString*)characters;
- (BOOL)characterIsMember:(unichar)character;
@end

@interface NSScanner : NSObject
+ (instancetype)scannerWithString:(NSString*)string;
- (instancetype)initWithString:(NSString*)string;
@property(readonly, copy) NSString* string;
@property NSUInteger scanLocation;
@property(copy) NSCharacterSet* charactersToBeSkipped;
@property(readonly, getter=isAtEnd) BOOL atEnd;
- (BOOL)scanString:(NSString*)string intoString:(NSString**)result;
- (BOOL)scanUpToString:(NSString*)string intoString:(NSString**)result;
- (BOOL)scanInteger:(NSInteger*)result;
- (BOOL)scanDouble:(double*)result;
@end
