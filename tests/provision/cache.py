"""The folder in which what was fetched for the tests is kept between runs."""

from streams_sql.spark.installation.cache import cache_root

__all__ = ["cache_root"]
