"""Users, projects and who may do what. Below every app but `live`."""
