"""The pages: server-rendered shells that the browser fills over REST and websockets. Last app, so it may read all."""
