"""Files that show the language, each with the texts that Confluent's registry makes of it.

`␠` stands for a space at the end of a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SHARED: Final = """\
syntax = "proto3";
package shared.v1;
import "google/protobuf/descriptor.proto";
message Money { string currency = 1; int64 units = 2; enum Kind { NONE = 0; CASH = 1; } }
message Rules { string name = 1; repeated int32 codes = 2; Rules inner = 3; repeated Rules more = 4; double limit = 5; extensions 100 to 200; }
extend google.protobuf.FieldOptions { Rules rules = 50001; repeated string hints = 50002; string note = 50003; }
extend google.protobuf.MessageOptions { Rules message_rules = 50001; }
extend Rules { string extra = 100; }
"""
"""What the import `shared.proto` stands for."""


@dataclass(frozen=True, slots=True)
class Case:
    written: str
    canonical: str
    normalised: str


LANGUAGE_CASES: Final = {
    "empty_file": Case(
        written="",
        canonical="",
        normalised="",
    ),
    "comments_and_stray_semicolons": Case(
        written="""\
// A leading comment.
syntax = 'proto3'; /* another
 * one */
package a.b;;
message Empty {} ; // the end""",
        canonical="""\
syntax = "proto3";
package a.b;

message Empty {}
""",
        normalised="""\
syntax = "proto3";
package a.b;

message Empty {}
""",
    ),
    "scalars_labels_and_order": Case(
        written="""\
syntax = "proto3"; package shop;
message Order { string id = 2; repeated int32 counts=0x10; optional bool paid = 1; double a = 3; bytes raw = 8;
  oneof payment { Card card = 7; string cash = 5; } map < string , Card > cards = 9; sint64 z = 4;
  message Card { fixed64 number = 1; message Deep { Card up = 1; } Deep deep = 3; enum State { OFF = 0; ON = 1; } State state = 2; } }
enum Top { ZERO = 0; }
message After { Order.Card.Deep d = 1; Top t = 2; .shop.Order o = 3; shop.Top u = 4; }""",
        canonical="""\
syntax = "proto3";
package shop;

message Order {
  string id = 2;
  repeated int32 counts = 16;
  optional bool paid = 1;
  double a = 3;
  bytes raw = 8;
  map<string, Card> cards = 9;
  sint64 z = 4;

  oneof payment {
    Card card = 7;
    string cash = 5;
  }

  message Card {
    fixed64 number = 1;
    Deep deep = 3;
    State state = 2;
␠␠
    message Deep {
      Card up = 1;
    }
    enum State {
      OFF = 0;
      ON = 1;
    }
  }
}
message After {
  Order.Card.Deep d = 1;
  Top t = 2;
  .shop.Order o = 3;
  shop.Top u = 4;
}
enum Top {
  ZERO = 0;
}
""",
        normalised="""\
syntax = "proto3";
package shop;

message Order {
  optional bool paid = 1;
  string id = 2;
  double a = 3;
  sint64 z = 4;
  bytes raw = 8;
  map<string, .shop.Order.Card> cards = 9;
  repeated int32 counts = 16;

  oneof payment {
    string cash = 5;
    .shop.Order.Card card = 7;
  }

  message Card {
    fixed64 number = 1;
    .shop.Order.Card.State state = 2;
    .shop.Order.Card.Deep deep = 3;
␠␠
    message Deep {
      .shop.Order.Card up = 1;
    }
    enum State {
      OFF = 0;
      ON = 1;
    }
  }
}
message After {
  .shop.Order.Card.Deep d = 1;
  .shop.Top t = 2;
  .shop.Order o = 3;
  .shop.Top u = 4;
}
enum Top {
  ZERO = 0;
}
""",
    ),
    "proto2_groups_defaults_extensions": Case(
        written="""\
syntax = "proto2"; package old;
message M { required int32 b = 2 [default = 010]; optional string s = 1 [default = "it's \\n\\x41"]; optional bool t = 3 [default = true];
  optional double d = 4 [default = 1.23456]; optional E e = 5 [default = TWO]; repeated group Part = 9 { optional int32 y = 2; optional int32 x = 1; }
  optional float f = 6 [default = -inf]; oneof o { group Choice = 11 { required int32 c = 1; } int32 p = 10; }
  extensions 100 to 199, 300, 500 to max; extensions 20 to 20; reserved 50, 40 to 45, 60 to 60; reserved "zeta", "alpha";
  extend M { optional int32 inner = 100; } }
extend M { optional int32 second = 102; optional E first = 101; }
extend .old.M { repeated string third = 103; }
enum E { TWO = 2; ONE = 1; }""",
        canonical="""\
syntax = "proto2";
package old;

message M {
  reserved 50, 40 to 45, 60 to 60;
  reserved "zeta", "alpha";

  required int32 b = 2 [default = 010];
  optional string s = 1 [default = "it\\'s \\nA"];
  optional bool t = 3 [default = true];
  optional double d = 4 [default = 1.23456];
  optional E e = 5 [default = TWO];
  optional float f = 6 [default = -inf];

  oneof o {
    int32 p = 10;
␠␠
    group Choice = 11 {
      required int32 c = 1;
    }
  }

  repeated group Part = 9 {
    optional int32 y = 2;
    optional int32 x = 1;
  }

  extensions 100 to 199, 300, 500 to max;
  extensions 20 to 20;

  extend M {
    optional int32 inner = 100;
  }
}
enum E {
  TWO = 2;
  ONE = 1;
}

extend M {
  optional int32 second = 102;
  optional E first = 101;
}
extend .old.M {
  repeated string third = 103;
}
""",
        normalised="""\
package old;

message M {
  reserved 40 to 45;
  reserved 50;
  reserved 60;
  reserved "alpha";
  reserved "zeta";

  optional string s = 1 [default = "it\\'s \\nA"];
  required int32 b = 2 [default = 8];
  optional bool t = 3 [default = true];
  optional double d = 4 [default = 1.235];
  optional .old.E e = 5 [default = TWO];
  optional float f = 6 [default = -inf];

  oneof o {
    int32 p = 10;
␠␠
    group Choice = 11 {
      required int32 c = 1;
    }
  }

  repeated group Part = 9 {
    optional int32 x = 1;
    optional int32 y = 2;
  }

  extensions 20;
  extensions 100 to 199;
  extensions 300;
  extensions 500 to max;

  extend .old.M {
    optional int32 inner = 100;
  }
}
enum E {
  ONE = 1;
  TWO = 2;
}

extend .old.M {
  optional .old.E first = 101;
  optional int32 second = 102;
  repeated string third = 103;
}
""",
    ),
    "no_syntax": Case(
        written="""\
message M { optional int32 a = 1; map<int32, string> names = 2; }""",
        canonical="""\

message M {
  optional int32 a = 1;
  map<int32, string> names = 2;
}
""",
        normalised="""\

message M {
  optional int32 a = 1;
  map<int32, string> names = 2;
}
""",
    ),
    "enums": Case(
        written="""\
syntax = "proto3";
enum E { option allow_alias = true; B = 0; A = 0; D = -1 [deprecated = true]; C = 0x0A; reserved 100 to max, 20; reserved "OLD", 'X'; option deprecated = false; }
enum Plain { P = 0; } enum OnlyOption { option deprecated = true; Q = 0; }""",
        canonical="""\
syntax = "proto3";

enum E {
  reserved 100 to max, 20;
  reserved "OLD", "X";
  option allow_alias = true;
  option deprecated = false;
  B = 0;
  A = 0;
  D = -1 [deprecated = true];
  C = 10;
}
enum Plain {
  P = 0;
}
enum OnlyOption {
  option deprecated = true;
  Q = 0;
}
""",
        normalised="""\
syntax = "proto3";

enum E {
  reserved 20;
  reserved 100 to max;
  reserved "OLD";
  reserved "X";
  option allow_alias = true;
  option deprecated = false;
  D = -1 [deprecated = true];
  A = 0;
  B = 0;
  C = 10;
}
enum Plain {
  P = 0;
}
enum OnlyOption {
  option deprecated = true;
  Q = 0;
}
""",
    ),
    "services": Case(
        written="""\
syntax = "proto3"; package s; import "shared.proto";
service Desk { option deprecated = true; rpc Ask (Question) returns (stream shared.v1.Money);
  rpc Tell (stream Question) returns (Question) { option idempotency_level = IDEMPOTENT; option deprecated = true; }
  rpc Quiet (.s.Question) returns (s.Question) {} }
service None {}
message Question { shared.v1.Money.Kind kind = 1; }""",
        canonical="""\
syntax = "proto3";
package s;

import "shared.proto";

message Question {
  shared.v1.Money.Kind kind = 1;
}

service Desk {
  option deprecated = true;

  rpc Ask (Question) returns (stream shared.v1.Money);
  rpc Tell (stream Question) returns (Question) {
    option idempotency_level = IDEMPOTENT;
    option deprecated = true;
  };
  rpc Quiet (.s.Question) returns (s.Question);
}
service None {}
""",
        normalised="""\
syntax = "proto3";
package s;

import "shared.proto";

message Question {
  .shared.v1.Money.Kind kind = 1;
}

service Desk {
  option deprecated = true;

  rpc Ask (.s.Question) returns (stream .shared.v1.Money);
  rpc Tell (stream .s.Question) returns (.s.Question) {
    option deprecated = true;
    option idempotency_level = IDEMPOTENT;
  };
  rpc Quiet (.s.Question) returns (.s.Question);
}
service None {}
""",
    ),
    "imports": Case(
        written="""\
syntax = "proto3"; import "shared.proto"; import weak "weak.proto"; import public "google/type/date.proto";
import "google/protobuf/timestamp.proto"; import "./never//there.proto"; import "shared.proto"; import public "google/protobuf/any.proto";
message M { google.protobuf.Timestamp at = 1; google.type.Date day = 2; google.protobuf.Any any = 3; }""",
        canonical="""\
syntax = "proto3";

import "shared.proto";
import "google/protobuf/timestamp.proto";
import "never/there.proto";
import "shared.proto";
import public "google/type/date.proto";
import public "google/protobuf/any.proto";

message M {
  google.protobuf.Timestamp at = 1;
  google.type.Date day = 2;
  google.protobuf.Any any = 3;
}
""",
        normalised="""\
syntax = "proto3";

import "google/protobuf/timestamp.proto";
import "never/there.proto";
import "shared.proto";
import public "google/protobuf/any.proto";
import public "google/type/date.proto";

message M {
  .google.protobuf.Timestamp at = 1;
  .google.type.Date day = 2;
  .google.protobuf.Any any = 3;
}
""",
    ),
    "scoping": Case(
        written="""\
syntax = "proto3"; package a.b;
message Outer { message Inner { message Innermost { Inner i = 1; Outer o = 2; Innermost self = 3; b.Outer.Inner half = 4; } } Inner.Innermost deep = 1; a.b.Outer full = 2; map<bool, Inner> inners = 3; }
message Inner { Outer.Inner other = 1; Inner own = 2; }""",
        canonical="""\
syntax = "proto3";
package a.b;

message Outer {
  Inner.Innermost deep = 1;
  a.b.Outer full = 2;
  map<bool, Inner> inners = 3;

  message Inner {
    message Innermost {
      Inner i = 1;
      Outer o = 2;
      Innermost self = 3;
      b.Outer.Inner half = 4;
    }
  }
}
message Inner {
  Outer.Inner other = 1;
  Inner own = 2;
}
""",
        normalised="""\
syntax = "proto3";
package a.b;

message Outer {
  .a.b.Outer.Inner.Innermost deep = 1;
  .a.b.Outer full = 2;
  map<bool, .a.b.Outer.Inner> inners = 3;

  message Inner {
    message Innermost {
      .a.b.Outer.Inner i = 1;
      .a.b.Outer o = 2;
      .a.b.Outer.Inner.Innermost self = 3;
      .a.b.Outer.Inner half = 4;
    }
  }
}
message Inner {
  .a.b.Outer.Inner other = 1;
  .a.b.Inner own = 2;
}
""",
    ),
}
