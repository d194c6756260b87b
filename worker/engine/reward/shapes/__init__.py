"""The rewards of the shapes data set (one coloured shape in a picture): captions, ideal drawings, two scorers."""
