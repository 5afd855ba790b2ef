"""Outfitter launches agent CLIs from plain `.agents` trees and answers for what they wrote."""

__version__ = "0.1.0"
