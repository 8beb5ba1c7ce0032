export interface MemoryItem {
  id: string;
  teamId: string;

  // Content
  type: MemoryType;
  title: string;
  content: string;

  // Metadata
  path: string;           // e.g., "/projects/pricing/decisions"
  tags: string[];
  source: MemorySource;   // where it came from

  // Permissions
  visibility: 'team' | 'role' | 'private';
  allowedRoles?: string[];

  // Timestamps
  createdAt: Date;
  updatedAt: Date;
  expiresAt?: Date;       // optional expiration time

  // Vector (for semantic search)
  embedding?: number[];
}

export type MemoryType =
  | 'context'     // background information
  | 'decision'    // decision record
  | 'document'    // document
  | 'note'        // note
  | 'reference'   // external reference
  | 'thread-summary';  // conversation summary

export interface MemorySource {
  type: 'human' | 'agent' | 'import' | 'auto';
  authorId?: string;
  threadId?: string;      // if sourced from a thread
  messageId?: string;     // if sourced from a message
}

export interface MemoryPermission {
  // Visibility
  visibility: 'team' | 'role' | 'private';

  // Role restrictions
  allowedRoles?: ('admin' | 'member' | 'agent')[];

  // Operation permissions
  operations: {
    read: boolean;
    write: boolean;
    delete: boolean;
  };
}
