"""The weights of one trainer rank: the policy that is trained, and the frozen or averaged ones beside it."""
