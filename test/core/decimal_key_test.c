/*
** Keys of Parquet's DECIMAL columns, against integers of 128 bits.
*/
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/parquet/decimal_key.h"

static bloom_decimal_type type_named(const char *name){
  bloom_decimal_type type = {0, 0, 0, 0};
  if( !bloom_decimal_type_read(name, &type) ) fail_msg("no type: %s", name);
  return type;
}

TEST(types_are_read){
  static const struct { const char *name; unsigned precision, scale, num_bytes; int is_big_endian; } known[] = {
    {"decimal(1,0)", 1, 0, 4, 0}, {"DECIMAL(9,9)", 9, 9, 4, 0}, {"Decimal(10, 2)", 10, 2, 8, 0}, {"decimal(18,2)", 18, 2, 8, 0},
    {"decimal(19,0)", 19, 0, 9, 1}, {"decimal(20,0)", 20, 0, 9, 1}, {"decimal(21,0)", 21, 0, 9, 1}, {"decimal(22,0)", 22, 0, 10, 1},
    {"decimal(38,38)", 38, 38, 16, 1}, {"decimal(9,2,4)", 9, 2, 4, 1}, {"decimal(18,2,8)", 18, 2, 8, 1}, {"decimal(1,1, 1)", 1, 1, 1, 1},
    {"decimal(2,0,1)", 2, 0, 1, 1}, {"decimal(3,0,2)", 3, 0, 2, 1}, {"decimal(18,2,16)", 18, 2, 16, 1},
  };
  static const char *const none[] = {
    "", "decimal", "decimal(", "decimal()", "decimal(9)", "decimal(9,)", "decimal(9,2", "decimal(9,2))", "decimal(9,2) ", " decimal(9,2)",
    "decimal(0,0)", "decimal(39,0)", "decimal(9,10)", "decimal(-9,2)", "decimal(009,2)", "decimal(9,2,)", "decimal(9,2,0)", "decimal(9,2,3)",
    "decimal(3,0,1)", "decimal(18,2,7)", "decimal(19,2,8)", "decimal(38,2,15)", "decimal(9,2,17)", "decimal(9,2,4,4)", "decimal (9,2)",
    "numeric(9,2)", "decimal(9.2)", "decimal(9,2)x", "decimam(9,2)",
  };
  size_t i;
  for(i=0; i<COUNT_OF(known); i++){
    const bloom_decimal_type type = type_named(known[i].name);
    assert_int_equal(type.precision, known[i].precision);
    assert_int_equal(type.scale, known[i].scale);
    assert_int_equal(type.num_bytes, known[i].num_bytes);
    assert_int_equal(type.is_big_endian, known[i].is_big_endian);
  }
  for(i=0; i<COUNT_OF(none); i++){
    bloom_decimal_type type;
    if( bloom_decimal_type_read(none[i], &type) ) fail_msg("a type: %s", none[i]);
  }
}

static void assert_hex(const uint8_t *key, size_t num_bytes, const char *expected, const char *what){
  char *hex = hex_of(key, num_bytes);
  if( strcmp(hex, expected)!=0 ) fail_msg("%s: %s, expected %s", what, hex, expected);
  free(hex);
}

static void assert_key(const bloom_decimal_type *type, const char *text, const char *expected){
  uint8_t key[BLOOM_DECIMAL_KEY_MAX_BYTES], *exact = exact_copy((const uint8_t*)text, strlen(text));
  const size_t num_bytes = bloom_decimal_key_of_text(type, exact, strlen(text), key);
  assert_hex(key, num_bytes, expected, text);
  free(exact);
}

TEST(texts_are_read){
  static const struct { const char *type, *text, *key; } known[] = {
    {"decimal(9,2)", "4.35", "b3010000"}, {"decimal(9,2)", "+4.35", "b3010000"}, {"decimal(9,2)", "-4.35", "4dfeffff"},
    {"decimal(9,2)", "4.3500", "b3010000"}, {"decimal(9,2)", "004.35", "b3010000"}, {"decimal(9,2)", "4.", "90010000"},
    {"decimal(9,2)", ".5", "32000000"}, {"decimal(9,2)", "-0", "00000000"}, {"decimal(9,2)", "0.00000", "00000000"},
    {"decimal(9,2)", "9999999.99", "ffc99a3b"}, {"decimal(9,2)", "-9999999.99", "013665c4"}, {"decimal(9,0)", "7.000", "07000000"},
    {"decimal(18,2)", "9999999999999999.99", "ffff63a7b3b6e00d"}, {"decimal(18,2,8)", "-1", "ffffffffffffff9c"},
    {"decimal(19,2)", "-1", "ffffffffffffffff9c"}, {"decimal(38,0)", "99999999999999999999999999999999999999", "4b3b4ca85a86c47a098a223fffffffff"},
    {"decimal(38,0)", "-99999999999999999999999999999999999999", "b4c4b357a5793b85f675ddc000000001"},
    /* None of the column's numbers, or no number. */
    {"decimal(9,2)", "10000000", ""}, {"decimal(9,2)", "4.355", ""}, {"decimal(9,2)", "4.3500001", ""}, {"decimal(9,0)", "7.1", ""},
    {"decimal(9,9)", "1", ""}, {"decimal(38,0)", "100000000000000000000000000000000000000", ""},
    {"decimal(9,2)", "", ""}, {"decimal(9,2)", "-", ""}, {"decimal(9,2)", ".", ""}, {"decimal(9,2)", "-.", ""}, {"decimal(9,2)", "1.2.3", ""},
    {"decimal(9,2)", " 1", ""}, {"decimal(9,2)", "1 ", ""}, {"decimal(9,2)", "1e2", ""}, {"decimal(9,2)", "--1", ""}, {"decimal(9,2)", "0x1", ""},
    {"decimal(9,2)", "1,5", ""}, {"decimal(9,2)", "NaN", ""},
  };
  size_t i;
  for(i=0; i<COUNT_OF(known); i++){
    const bloom_decimal_type type = type_named(known[i].type);
    assert_key(&type, known[i].text, known[i].key);
  }
}

#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 int128;

/* Each precision and scale, each number of bytes, random digits: a text, an INTEGER and a REAL. */
TEST(keys_are_the_integers_of_128_bits){
  const size_t num_rounds = test_share(100000);
  size_t round, i;
  for(round=0; round<num_rounds; round++){
    rng random = rng_stream(round);
    const unsigned precision = 1 + (unsigned)rng_below(&random, 38), scale = (unsigned)rng_below(&random, precision + 1);
    const unsigned num_digits = 1 + (unsigned)rng_below(&random, precision);
    const int is_negative = (int)rng_below(&random, 2);
    char name[40], text[64], hex[40] = "";
    uint8_t key[BLOOM_DECIMAL_KEY_MAX_BYTES];
    bloom_decimal_type type;
    int128 number = 0;
    size_t length = 0;
    unsigned digit;
    snprintf(name, sizeof(name), rng_below(&random, 2) ? "decimal(%u,%u)" : "decimal(%u,%u,16)", precision, scale);
    type = type_named(name);
    if( is_negative ) text[length++] = '-';
    for(digit=precision; digit>0; digit--){
      const char value = (char)('0' + (digit>num_digits ? 0 : rng_below(&random, 10)));
      if( digit==scale ) text[length++] = '.';
      text[length++] = value;
      number = 10*number + (value - '0');
    }
    text[length] = 0;
    if( is_negative ) number = -number;
    for(i=0; i<type.num_bytes; i++){
      const size_t place = type.is_big_endian ? type.num_bytes - 1 - i : i;
      snprintf(hex + 2*i, 3, "%02x", (unsigned)(number >> 8*place & 0xff));
    }
    assert_key(&type, text, hex);
    if( num_digits<=15 && scale<=22 ){
      assert_int_equal(bloom_decimal_key_of_real(&type, strtod(text, NULL), key), type.num_bytes);
      assert_hex(key, type.num_bytes, hex, text);
    }
    if( scale==0 && num_digits<=18 ){
      assert_int_equal(bloom_decimal_key_of_int64(&type, (int64_t)number, key), type.num_bytes);
      assert_hex(key, type.num_bytes, hex, text);
    }
  }
}
#endif

static size_t real_key(const char *name, double number){
  const bloom_decimal_type type = type_named(name);
  uint8_t key[BLOOM_DECIMAL_KEY_MAX_BYTES];
  return bloom_decimal_key_of_real(&type, number, key);
}

TEST(reals_that_are_no_decimal_have_no_key){
  /* Constants have more digits where FLT_EVAL_METHOD is 2, as on i686. */
  volatile double tenth = 0.1, fifth = 0.2;
  assert_int_equal(real_key("decimal(18,2)", 4.35), 8);
  assert_int_equal(real_key("decimal(18,2)", -0.0), 8);
  assert_int_equal(real_key("decimal(18,2)", 9999999999999.99), 8);
  assert_int_equal(real_key("decimal(18,2)", 10000000000000.0), 0); /* 16 digits */
  assert_int_equal(real_key("decimal(18,2)", 4.355), 0);
  assert_int_equal(real_key("decimal(18,2)", tenth + fifth), 0);
  assert_int_equal(real_key("decimal(18,2)", nextafter(4.35, 5)), 0);
  assert_int_equal(real_key("decimal(18,2)", nextafter(4.35, 4)), 0);
  assert_int_equal(real_key("decimal(4,2)", 99.99), 4);
  assert_int_equal(real_key("decimal(4,2)", 100.0), 0);
  assert_int_equal(real_key("decimal(38,22)", 1e-9), 16);
  assert_int_equal(real_key("decimal(38,23)", 1e-9), 0);
  assert_int_equal(real_key("decimal(18,0)", (double)INFINITY), 0);
  assert_int_equal(real_key("decimal(18,0)", (double)-INFINITY), 0);
  assert_int_equal(real_key("decimal(18,0)", (double)NAN), 0);
  assert_int_equal(real_key("decimal(38,22)", 1e300), 0);
}

TEST(integers_of_all_64_bits){
  const bloom_decimal_type whole = type_named("decimal(19,0)"), scaled = type_named("decimal(21,2)"), narrow = type_named("decimal(18,0)");
  uint8_t key[BLOOM_DECIMAL_KEY_MAX_BYTES];
  assert_int_equal(bloom_decimal_key_of_int64(&whole, INT64_MIN, key), 9);
  assert_memory_equal(key, "\xff\x80\0\0\0\0\0\0\0", 9);
  assert_int_equal(bloom_decimal_key_of_int64(&whole, INT64_MAX, key), 9);
  assert_memory_equal(key, "\0\x7f\xff\xff\xff\xff\xff\xff\xff", 9);
  assert_int_equal(bloom_decimal_key_of_int64(&scaled, INT64_MIN, key), 9);
  assert_memory_equal(key, "\xce\0\0\0\0\0\0\0\0", 9);
  assert_int_equal(bloom_decimal_key_of_int64(&narrow, 999999999999999999, key), 8);
  assert_int_equal(bloom_decimal_key_of_int64(&narrow, 1000000000000000000, key), 0);
}

RUN_TESTS()
