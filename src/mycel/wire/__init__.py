"""How Mycel looks on the wire: the operations of its API and the shapes of what they take and answer."""
