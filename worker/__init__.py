"""Everything of Tandem that runs off the web: contracts, pipeline, engine, tasks and the shapes demo."""
