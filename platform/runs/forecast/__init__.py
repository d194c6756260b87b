"""When runs will end, by their own pace and by that of runs like them."""
