"""Files below a folder, as the inputs of a program: found by name, read as declared.

    ~rttemp::people    root/rttemp/people.parquet, .csv, .json, or a folder of parts

A program declares the columns of a file and their types. Names have no case, what a row
leaves out is blank, texts come without the blanks at their end. A value that is not of
its type is an error that names file, column and value; it is never bent.
"""

from dovetail.bind.files.names import DataFile, Format, Root

__all__ = ["DataFile", "Format", "Root"]
