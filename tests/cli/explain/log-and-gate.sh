# Two questions at once are refused.
whet explain --log stale
