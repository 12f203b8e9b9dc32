"""Java's date patterns. The expected texts and numbers are those of a Java 17 whose language is English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.functions.java_time.dates import date_of, date_text, time_of, time_text, timestamp_of, timestamp_text
from streams_sql.functions.java_time.fields import DateProblem
from streams_sql.functions.java_time.zones import zone

MOMENT = 1_718_001_906_123  # 2024-06-10T06:45:06.123Z

FORMATTED = [
    ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", MOMENT, "America/Los_Angeles", "2024-06-09T23:45:06.123-07:00"),
    ("EEE, d MMM yy h:mm a", MOMENT, "GMT", "Mon, 10 Jun 24 6:45 AM"),
    ("EEEE MMMM QQQ QQQQ G GGGG", MOMENT, "UTC", "Monday June Q2 2nd quarter AD Anno Domini"),
    ("D DDD e ee c w W Y F g", MOMENT, "UTC", "162 162 2 02 2 24 3 2024 3 60471"),
    ("H HH k kk K KK h hh", 50_706, "UTC", "0 00 24 24 0 00 12 12"),
    ("S SS SSSSSS n A N", MOMENT, "UTC", "1 12 123000 123000000 24306123 24306123000000"),
    ("VV z zzzz O OOOO Z", MOMENT, "Asia/Kolkata", "Asia/Kolkata IST India Standard Time GMT+5:30 GMT+05:30 +0530"),
    ("ZZZZ ZZZZZ X XX x xxx", MOMENT, "Asia/Kolkata", "GMT+05:30 +05:30 +0530 +0530 +0530 +05:30"),
    ("VV O Z X x", MOMENT, "UTC", "UTC GMT +0000 Z +00"),
    ("u y yyyyy uu", -62_167_219_200_001, "UTC", "-1 2 00002 01"),
    ("yyyy uuuuu", 253_402_300_800_000, "UTC", "+10000 10000"),
    ("''yyyy' o''clock'", MOMENT, "UTC", "'2024 o'clock"),
    ("HH[:mm]['!']", MOMENT, "+02:00", "08:45!"),
    ("ppH/pppM", MOMENT, "UTC+3", " 9/  6"),
    ("MMMMM EEEEE LLL LLLL", MOMENT, "UTC", "J M Jun June"),
    ("yyyy-MM-dd HH:mm z", 1_711_846_800_000, "Europe/Paris", "2024-03-31 03:00 CEST"),
]

READ = [
    ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2020-05-26T23:59:58.001", "GMT", 1_590_537_598_001),
    ("yyyyMMddHHmmssSSS", "20200526235958001", "GMT", 1_590_537_598_001),
    ("yyyy-MM-dd HH:mm[:ss][ X]", "2020-05-26 23:59 +02", "GMT", 1_590_530_340_000),
    ("yyyy-MM-dd HH:mm", "2020-07-01 00:30", "America/New_York", 1_593_577_800_000),
    ("yyyy-MM-dd HH:mm", "2024-03-31 02:30", "Europe/Paris", 1_711_848_600_000),
    ("yyyy-MM-dd HH:mm", "2024-10-27 02:30", "Europe/Paris", 1_729_989_000_000),
    ("d MMM yyyy", "5 jAN 2021", "GMT", 1_609_804_800_000),
    ("yy-M-d", "99-2-30", "GMT", 4_075_920_000_000),
    ("yyyy", "2022", "GMT", 1_640_995_200_000),
    ("MM", "11", "GMT", 26_265_600_000),
    ("HH:mm", "24:00", "GMT", 0),
    ("yyyy-MM-dd HH", "2020-02-28 24", "GMT", 1_582_934_400_000),
    ("hh:mm a", "12:05 am", "GMT", 300_000),
    ("yyyy-DDD", "2020-366", "GMT", 1_609_372_800_000),
    ("yyyy-MM-dd'T'HH:mmXXX'['VV']'", "2020-01-01T00:00+01:00[Europe/Paris]", "GMT", 1_577_833_200_000),
    ("YYYY-'W'ww-e", "2021-W01-1", "GMT", 1_609_027_200_000),
    ("EEE yyyy-MM-dd", "Tue 2020-05-26", "GMT", 1_590_451_200_000),
    ("a", "PM", "GMT", 64_800_000),
    ("A", "86399999", "GMT", 86_399_999),
    ("yyyy VV", "2020 UTC+03:00", "GMT", 1_577_826_000_000),
    ("yyyy-MM-dd HH:mm z", "2020-01-01 00:00 PST", "GMT", 1_577_865_600_000),
]

UNREADABLE = [
    ("yyyy-MM-dd", "2020-13-01", "could not be parsed: Invalid value for MonthOfYear (valid values 1 - 12): 13"),
    ("EEE yyyy-MM-dd", "Mon 2020-05-26", "Conflict found: Field DayOfWeek 2 differs from DayOfWeek 1"),
    ("yyyy-MM-dd", "2020-05-26x", "Text '2020-05-26x' could not be parsed, unparsed text found at index 10"),
    ("yyyy-MM-dd", "20-05-26", "Text '20-05-26' could not be parsed at index 0"),
    ("yyyy", "12345", "could not be parsed at index 0"),
    ("HH", "-1", "could not be parsed at index 0"),
    ("HH:mm", "25:00", "Invalid value for HourOfDay (valid values 0 - 23): 25"),
    ("DDD", "366", "Leap day cannot be parsed without supplying the year field"),
    ("yyyy-DDD", "2021-366", "Invalid date 'DayOfYear 366' as '2021' is not a leap year"),
    ("yyyy u", "2020 2021", "Conflict found: Year 2021 differs from Year 2020"),
    ("SSS", "12", "could not be parsed at index 0"),
    ("yyyy", "x" * 100, f"Text '{'x' * 64}...' could not be parsed at index 0"),
]

BAD_PATTERNS = [
    ("f", "Unknown pattern letter: f"),
    ("ddd", "Too many pattern letters: d"),
    ("cc", 'Invalid pattern "cc"'),
    ("VVV", "Pattern letter count must be 2: V"),
    ("OO", "Pattern letter count must be 1 or 4: O"),
    ("{", "Pattern includes reserved character: '{'"),
    ("]", "Pattern invalid as it contains ] without previous ["),
    ("'a", "Pattern ends with an incomplete string literal: 'a"),
    ("p", "Pad letter 'p' must be followed by valid pad pattern: p"),
    ("SSSSSSSSSS", "Minimum width must be from 0 to 9 inclusive but was 10"),
    ("y" * 20, "The minimum width must be from 1 to 19 inclusive but was 20"),
    ("-" * 1001, "The pattern has 1001 characters; 1000 are the most"),
]


@pytest.mark.parametrize(("pattern", "millis", "zone_name", "expected"), FORMATTED)
def test_timestamps_become_texts(pattern: str, millis: int, zone_name: str, expected: str) -> None:
    assert timestamp_text(millis, pattern, zone_name) == expected


@pytest.mark.parametrize(("pattern", "text", "zone_name", "expected"), READ)
def test_texts_become_timestamps(pattern: str, text: str, zone_name: str, expected: int) -> None:
    assert timestamp_of(text, pattern, zone_name) == expected


@pytest.mark.parametrize(("pattern", "text", "reason"), UNREADABLE)
def test_a_text_that_does_not_fit_is_refused(pattern: str, text: str, reason: str) -> None:
    with pytest.raises(DateProblem) as problem:
        timestamp_of(text, pattern, "GMT")
    assert reason in str(problem.value)


@pytest.mark.parametrize(("pattern", "reason"), BAD_PATTERNS)
def test_a_bad_pattern_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(DateProblem) as problem:
        timestamp_text(0, pattern, "UTC")
    assert str(problem.value) == reason


def test_dates_and_times_have_only_their_own_fields() -> None:
    assert date_text(-1, "dd-MM-yyyy'Sophia'") == "31-12-1969Sophia"
    assert time_text(1_234_567, "HHmmss'AAAAA'") == "002034AAAAA"
    assert date_text(0, "yyyy[ HH]") == "1970"
    with pytest.raises(DateProblem, match="Unsupported field: HourOfDay"):
        date_text(0, "HH")
    with pytest.raises(DateProblem, match="Unsupported field: YearOfEra"):
        time_text(0, "yyyy")
    with pytest.raises(DateProblem, match="Unable to obtain LocalDate"):
        date_of("2020", "yyyy")
    with pytest.raises(DateProblem, match="Time format contains date field"):
        time_of("2020 10:00", "yyyy HH:mm")
    with pytest.raises(DateProblem, match="Unable to obtain LocalTime"):
        time_of("10", "mm")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Z", "Z"),
        ("+1", "+01:00"),
        ("-0130", "-01:30"),
        ("+01:30:15", "+01:30:15"),
        ("UT-3", "UT-03:00"),
        ("-00:00", "Z"),
    ],
)
def test_zones_have_the_names_of_java(name: str, shown: str) -> None:
    assert zone(name).id == shown


@pytest.mark.parametrize(
    "name", ["PST", "EST", "", "A", "utc", "UTC0", "UTC+25", "-19", "+1:30", "Foo/Bar", "../etc", "+00:60"]
)
def test_other_zones_are_refused(name: str) -> None:
    with pytest.raises(DateProblem):
        zone(name)


@given(
    st.integers(-(10**14), 10**15),
    st.sampled_from(["UTC", "Europe/Paris", "America/New_York", "Asia/Kathmandu", "-09:30"]),
)
def test_a_text_with_its_offset_comes_back_as_the_same_timestamp(millis: int, zone_name: str) -> None:
    pattern = "uuuu-MM-dd HH:mm:ss.SSSXXXXX"
    assert timestamp_of(timestamp_text(millis, pattern, zone_name), pattern, "Asia/Tokyo") == millis
