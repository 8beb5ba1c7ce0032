"""The plug points, one Protocol each. Every promise is written here once; implementations repeat nothing."""
