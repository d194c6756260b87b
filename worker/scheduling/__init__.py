"""The scheduling brain, pure: decides which lane does what next. No torch, no Ray, no Django, no clock of its own."""
