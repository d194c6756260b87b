"""The devices of a lane: which one it sees, which one it computes on, and what differs between vendors."""
