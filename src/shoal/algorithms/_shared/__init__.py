"""What several algorithms use; entries never import entries. Internal."""
