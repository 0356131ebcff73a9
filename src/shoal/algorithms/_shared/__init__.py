"""Parts that several algorithms use; algorithms never import each other. Internal."""
