"""Files that nobody writes on purpose, each with the texts that Confluent's registry makes of it.

`␠` stands for a space at the end of a line.
"""

from __future__ import annotations

from typing import Final

from tests.schema_registry.formats.protobuf.language_cases import Case

ODD_CASES: Final = {
    "paths_in_aggregates": Case(
        written="""\
syntax = "proto3";
message M { int32 a = 1 [(x) = { [a.b].c: 1, [a.b].d: "t", [a.b].c: 2 (p).q { r: 1 } e: 1 e . f: 2 g: {h: 1} g . i: TRUE g: 5 }]; }""",
        canonical="""\
syntax = "proto3";

message M {
  int32 a = 1 [(x) = {
    [a.b]: {
      c: "2",
      d: "t"
    },
    p: {
      q: {
        r: 1
      }
    },
    e: {
      f: "2"
    },
    g: [
      {
        h: 1,
        i: "TRUE"
      },
      5
    ]
  }];
}
""",
        normalised="""\
syntax = "proto3";

message M {
  int32 a = 1 [(x) = {
    [a.b]: {
      c: "2",
      d: "t"
    },
    e: {
      f: "2"
    },
    g: [
      {
        h: 1,
        i: "TRUE"
      },
      5
    ],
    p: {
      q: {
        r: 1
      }
    }
  }];
}
""",
    ),
    "brackets_in_paths": Case(
        written="""\
syntax = "proto3"; message M { int32 a = 1 [(x).(y).z = 1, (x).[k] = 2, (m) = {l : [1], l: {a: 1}, l: [2,3]}]; }""",
        canonical="""\
syntax = "proto3";

message M {
  int32 a = 1 [
    (x).(y).z = 1,
    (x).[k] = 2,
    (m) = {
      l: [
        1,
        {
          a: 1
        },
        2,
        3
      ]
    }
  ];
}
""",
        normalised="""\
syntax = "proto3";

message M {
  int32 a = 1 [
    (m) = {
      l: [
        1,
        {
          a: 1
        },
        2,
        3
      ]
    },
    (x).(y).z = 1,
    (x).[k] = 2
  ];
}
""",
    ),
    "odd_imports": Case(
        written="""\
syntax = "proto3"; import "/abs/../x.proto"; import "/../y.proto"; import "\\\\\\\\w\\\\\\\\x.proto"; import ""; import ".."; import "a/../b"; message M {}""",
        canonical="""\
syntax = "proto3";

import "/abs/../x.proto";
import "/y.proto";
import "/w/x.proto";
import ".";
import "..";
import "a/../b";

message M {}
""",
        normalised="""\
syntax = "proto3";

import ".";
import "..";
import "/abs/../x.proto";
import "/w/x.proto";
import "/y.proto";
import "a/../b";

message M {}
""",
    ),
    "spaced_names": Case(
        written="""\
syntax = "proto3"; package x; message M { N . O c = 1; message N { message O {} } }""",
        canonical="""\
syntax = "proto3";
package x;

message M {
  N.O c = 1;

  message N {
    message O {}
  }
}
""",
        normalised="""\
syntax = "proto3";
package x;

message M {
  .x.M.N.O c = 1;

  message N {
    message O {}
  }
}
""",
    ),
    "values_of_many_kinds": Case(
        written="""\
syntax = "proto3"; option (a) = "x" ; option (a) = {}; option (a).b = []; message M { int32 x = 1 [(confluent.field_meta).doc = "a", (confluent.field_meta) = "b"]; }""",
        canonical="""\
syntax = "proto3";

option (a) = "x";
option (a) = {
};
option (a).b = [
];

message M {
  int32 x = 1 [
    (confluent.field_meta).doc = "a",
    (confluent.field_meta) = "b"
  ];
}
""",
        normalised="""\
syntax = "proto3";

option (a) = "x";
option (a) = {
};
option (a).b = [
];

message M {
  int32 x = 1 [(confluent.field_meta) = "b"];
}
""",
    ),
    "repeated_metadata": Case(
        written="""\
syntax = "proto3"; import "confluent/meta.proto"; message M { int32 x = 1 [(confluent.field_meta).rules = {name: "a"},
  (confluent.field_meta).rules = {name: "b"}, (confluent.field_meta).rules = {name: "a"}, (confluent.field_meta).params = {key: "k"}, (confluent.field_meta).params = [{key: "k"}, {key:"l"}]]; }""",
        canonical="""\
syntax = "proto3";

import "confluent/meta.proto";

message M {
  int32 x = 1 [
    (confluent.field_meta).rules = {
      name: "a"
    },
    (confluent.field_meta).rules = {
      name: "b"
    },
    (confluent.field_meta).rules = {
      name: "a"
    },
    (confluent.field_meta).params = {
      key: "k"
    },
    (confluent.field_meta).params = [
      {
        key: "k"
      },
      {
        key: "l"
      }
    ]
  ];
}
""",
        normalised="""\
syntax = "proto3";

import "confluent/meta.proto";

message M {
  int32 x = 1 [(confluent.field_meta) = {
    params: [
      {
        key: "k"
      },
      {
        key: "l"
      }
    ],
    rules: [
      {
        name: "a"
      },
      {
        name: "b"
      }
    ]
  }];
}
""",
    ),
    "extensions_here_and_there": Case(
        written="""\
message M { extensions 100 to 200; extend M { optional int32 a = 100 [retention = WHAT]; } } extend M { optional string b = 101; repeated M c = 102; }""",
        canonical="""\

message M {
  extensions 100 to 200;

  extend M {
    optional int32 a = 100 [retention = WHAT];
  }
}

extend M {
  optional string b = 101;
  repeated M c = 102;
}
""",
        normalised="""\

message M {
  extensions 100 to 200;

  extend .M {
    optional int32 a = 100 [retention = WHAT];
  }
}

extend .M {
  optional string b = 101;
  repeated .M c = 102;
}
""",
    ),
    "defaults_set_twice": Case(
        written="""\
message M { optional int32 a = 1 [default = 1, default = 2, json_name = "x", json_name = "y"]; }""",
        canonical="""\

message M {
  optional int32 a = 1 [
    default = 2,
    json_name = "y"
  ];
}
""",
        normalised="""\

message M {
  optional int32 a = 1 [
    default = 2,
    json_name = "y"
  ];
}
""",
    ),
    "a_field_in_and_out_of_a_oneof": Case(
        written="""\
message M { optional int32 a = 1; oneof o { string a = 2; } }""",
        canonical="""\

message M {
  optional int32 a = 1;

  oneof o {
    string a = 2;
  }
}
""",
        normalised="""\

message M {
  optional int32 a = 1;

  oneof o {
    string a = 2;
  }
}
""",
    ),
}
