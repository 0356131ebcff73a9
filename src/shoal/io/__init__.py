"""Native frames and files to Arrow and back. Internal."""
