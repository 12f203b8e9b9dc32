"""Files that show options, each with the texts that Confluent's registry makes of it.

`␠` stands for a space at the end of a line.
"""

from __future__ import annotations

from typing import Final

from tests.schema_registry.formats.protobuf.language_cases import Case

OPTION_CASES: Final = {
    "one_option_and_several": Case(
        written="""\
syntax = "proto3"; message M { string a = 1 [deprecated = true]; string b = 2 [json_name = "bee", jstype = JS_STRING, deprecated = false]; }""",
        canonical="""\
syntax = "proto3";

message M {
  string a = 1 [deprecated = true];
  string b = 2 [
    jstype = JS_STRING,
    deprecated = false,
    json_name = "bee"
  ];
}
""",
        normalised="""\
syntax = "proto3";

message M {
  string a = 1 [deprecated = true];
  string b = 2 [
    deprecated = false,
    json_name = "bee",
    jstype = JS_STRING
  ];
}
""",
    ),
    "strings": Case(
        written="""\
syntax = "proto3"; option java_package = 'a "quoted" \\t\\101\\x42\\q' " and more"; message M { string s = 1 [json_name = "\\a\\b\\f\\n\\r\\t\\v\\\\\\'ünï"]; }""",
        canonical="""\
syntax = "proto3";

option java_package = "a \\"quoted\\" \\tABq and more";

message M {
  string s = 1 [json_name = "\\a\\b\\f\\n\\r\\t\\v\\\\\\'ünï"];
}
""",
        normalised="""\
syntax = "proto3";

option java_package = "a \\"quoted\\" \\tABq and more";

message M {
  string s = 1 [json_name = "\\a\\b\\f\\n\\r\\t\\v\\\\\\'ünï"];
}
""",
    ),
    "custom_paths_merge": Case(
        written="""\
syntax = "proto3"; import "shared.proto"; package shared.v1.other;
message M { option (shared.v1.message_rules).name = "m"; option (v1.message_rules).codes = 1; option (.shared.v1.message_rules).codes = [2, 1];
  int32 a = 1 [(shared.v1.rules).inner.name = "x", (rules).inner.codes = 5, (v1.rules).name = "first", (rules).name = "second", (hints) = "h2", (hints) = "h1", (note) = "n"];
  int32 b = 2 [(rules).more = {name: "p"}, (rules).more = {name: "q"}, (rules).limit = 2.50]; }""",
        canonical="""\
syntax = "proto3";
package shared.v1.other;

import "shared.proto";

message M {
  option (shared.v1.message_rules).name = "m";
  option (v1.message_rules).codes = 1;
  option (.shared.v1.message_rules).codes = [
    2,
    1
  ];

  int32 a = 1 [
    (shared.v1.rules).inner.name = "x",
    (rules).inner.codes = 5,
    (v1.rules).name = "first",
    (rules).name = "second",
    (hints) = "h2",
    (hints) = "h1",
    (note) = "n"
  ];
  int32 b = 2 [
    (rules).more = {
      name: "p"
    },
    (rules).more = {
      name: "q"
    },
    (rules).limit = 2.50
  ];
}
""",
        normalised="""\
syntax = "proto3";
package shared.v1.other;

import "shared.proto";

message M {
  option (shared.v1.message_rules) = {
    codes: [
      1,
      2
    ],
    name: "m"
  };

  int32 a = 1 [
    (shared.v1.hints) = "h2",
    (shared.v1.hints) = "h1",
    (shared.v1.note) = "n",
    (shared.v1.rules) = {
      inner: {
        codes: 5,
        name: "x"
      },
      name: "second"
    }
  ];
  int32 b = 2 [(shared.v1.rules) = {
    limit: 2.5,
    more: [
      {
        name: "p"
      },
      {
        name: "q"
      }
    ]
  }];
}
""",
    ),
    "aggregates": Case(
        written="""\
syntax = "proto3"; import "shared.proto"; package x;
message M { int32 a = 1 [(shared.v1.rules) = { name: "n" codes: [1, 2] codes: 3; inner { limit: 0x10 more: [] } [shared.v1.extra]: "e", more: [{name: 'one'}] }];
  int32 b = 2 [(shared.v1.rules) = { inner.limit: 5, codes: [7] }, (unknown) = [true, WORD, "s", 1.50, {k: 1}], (other) = [1], (none) = []]; }""",
        canonical="""\
syntax = "proto3";
package x;

import "shared.proto";

message M {
  int32 a = 1 [(shared.v1.rules) = {
    name: "n",
    codes: [
      1,
      2,
      3
    ],
    inner: {
      limit: 0x10,
      more: [
      ]
    },
    [shared.v1.extra]: "e",
    more: [
      {
        name: "one"
      }
    ]
  }];
  int32 b = 2 [
    (shared.v1.rules) = {
      inner.limit: 5,
      codes: [
        7
      ]
    },
    (unknown) = [
      true,
      WORD,
      "s",
      1.50,
      {
        k: 1
      }
    ],
    (other) = [1],
    (none) = [
    ]
  ];
}
""",
        normalised="""\
syntax = "proto3";
package x;

import "shared.proto";

message M {
  int32 a = 1 [(shared.v1.rules) = {
    [shared.v1.extra]: "e",
    codes: [
      1,
      2,
      3
    ],
    inner: {
      limit: 16
    },
    more: {
      name: "one"
    },
    name: "n"
  }];
  int32 b = 2 [
    (none) = [
    ],
    (other) = [1],
    (shared.v1.rules) = {
      codes: 7,
      inner.limit: 5
    },
    (unknown) = [
      true,
      WORD,
      "s",
      1.5,
      {
        k: 1
      }
    ]
  ];
}
""",
    ),
    "confluent_meta": Case(
        written="""\
syntax = "proto3"; import "confluent/meta.proto"; package c;
message M { option (confluent.message_meta) = {doc: "message", tags: ["PII", "GDPR"]};
  bytes d = 1 [(confluent.field_meta) = {params: [{value: "2", key: "scale"}, {key: "precision", value: "9"}]}, (confluent.field_meta).tags = "A", (confluent.field_meta).tags = "B"];
  E e = 2 [(confluent.field_meta).rules = {name: "r", expr: "this > 0"}]; }
enum E { option (confluent.enum_meta).doc = "enum"; Z = 0 [(confluent.enum_value_meta).doc = "zero"]; }""",
        canonical="""\
syntax = "proto3";
package c;

import "confluent/meta.proto";

message M {
  option (confluent.message_meta) = {
    doc: "message",
    tags: [
      "PII",
      "GDPR"
    ]
  };

  bytes d = 1 [
    (confluent.field_meta) = {
      params: [
        {
          value: "2",
          key: "scale"
        },
        {
          key: "precision",
          value: "9"
        }
      ]
    },
    (confluent.field_meta).tags = "A",
    (confluent.field_meta).tags = "B"
  ];
  E e = 2 [(confluent.field_meta).rules = {
    name: "r",
    expr: "this > 0"
  }];
}
enum E {
  option (confluent.enum_meta).doc = "enum";
  Z = 0 [(confluent.enum_value_meta).doc = "zero"];
}
""",
        normalised="""\
syntax = "proto3";
package c;

import "confluent/meta.proto";

message M {
  option (confluent.message_meta) = {
    doc: "message",
    tags: [
      "PII",
      "GDPR"
    ]
  };

  bytes d = 1 [(confluent.field_meta) = {
    params: [
      {
        key: "scale",
        value: "2"
      },
      {
        key: "precision",
        value: "9"
      }
    ],
    tags: [
      "A",
      "B"
    ]
  }];
  .c.E e = 2 [(confluent.field_meta) = {
    rules: {
      expr: "this > 0",
      name: "r"
    }
  }];
}
enum E {
  option (confluent.enum_meta) = {
    doc: "enum"
  };
  Z = 0 [(confluent.enum_value_meta) = {
    doc: "zero"
  }];
}
""",
    ),
    "features_and_ranges": Case(
        written="""\
syntax = "proto2"; option features.field_presence = EXPLICIT; option features.enum_type = OPEN;
message M { extensions 100 to 200 [verification = UNVERIFIED, declaration = {number: 101, full_name: ".a.B", type: "int32", reserved: true}];
  optional int32 a = 1 [retention = RETENTION_SOURCE, targets = TARGET_TYPE_FIELD, targets = TARGET_TYPE_FILE, edition_defaults = {edition: EDITION_2023, value: "x"}, features = {json_format: ALLOW}, debug_redact = true, ctype = CORD]; repeated int32 p = 2 [packed = true]; }""",
        canonical="""\
syntax = "proto2";

option features.field_presence = EXPLICIT;
option features.enum_type = OPEN;

message M {
  optional int32 a = 1 [
    retention = RETENTION_SOURCE,
    targets = TARGET_TYPE_FIELD,
    targets = TARGET_TYPE_FILE,
    edition_defaults = {
      edition: EDITION_2023,
      value: "x"
    },
    features = {
      json_format: ALLOW
    },
    debug_redact = true,
    ctype = CORD
  ];
  repeated int32 p = 2 [packed = true];

  extensions 100 to 200 [
    verification = UNVERIFIED,
    declaration = {
      number: 101,
      full_name: ".a.B",
      type: "int32",
      reserved: true
    }
  ];
}
""",
        normalised="""\

option features.enum_type = OPEN;
option features.field_presence = EXPLICIT;

message M {
  optional int32 a = 1 [
    ctype = CORD,
    debug_redact = true,
    edition_defaults = {
      edition: EDITION_2023,
      value: "x"
    },
    features = {
      json_format: ALLOW
    },
    retention = RETENTION_SOURCE,
    targets = TARGET_TYPE_FIELD,
    targets = TARGET_TYPE_FILE
  ];
  repeated int32 p = 2 [packed = true];

  extensions 100 to 200 [
    declaration = {
      full_name: ".a.B",
      number: 101,
      reserved: true,
      type: "int32"
    },
    verification = UNVERIFIED
  ];
}
""",
    ),
    "file_options": Case(
        written="""\
syntax = "proto3"; option java_package = "com.example"; option optimize_for = CODE_SIZE; option go_package = "g"; option java_multiple_files = true;
option (unknown.thing) = "kept"; option (confluent.file_meta).doc = "of the file"; import "confluent/meta.proto"; message M {}""",
        canonical="""\
syntax = "proto3";

import "confluent/meta.proto";

option java_package = "com.example";
option optimize_for = CODE_SIZE;
option go_package = "g";
option java_multiple_files = true;
option (unknown.thing) = "kept";
option (confluent.file_meta).doc = "of the file";

message M {}
""",
        normalised="""\
syntax = "proto3";

import "confluent/meta.proto";

option (confluent.file_meta) = {
  doc: "of the file"
};
option go_package = "g";
option java_multiple_files = true;
option java_package = "com.example";
option optimize_for = CODE_SIZE;
option (unknown.thing) = "kept";

message M {}
""",
    ),
    "empty_parts": Case(
        written="""\
syntax = "proto2"; message M { oneof o { option (x) = 1; group G = 1 {} } extend M {} message N { } extensions 9; }""",
        canonical="""\
syntax = "proto2";

message M {
  oneof o {
    option (x) = 1;
␠␠
    group G = 1 {}
  }

  extensions 9;

  extend M {}

  message N {}
}
""",
        normalised="""\

message M {

  extensions 9;


  message N {}
}
""",
    ),
}
