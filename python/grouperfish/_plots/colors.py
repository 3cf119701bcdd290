"""Colours of the charts: told apart also by those who see no red or green (Okabe & Ito, 2008)."""

ACCENT = "#2c6fa8"
GREY = "#666666"
LIGHT = "#dcdcdc"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7b4fa3", "#8c564b", "#5b7f1e", "#444444")
