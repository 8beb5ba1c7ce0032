import type { MemoryItem } from "./interfaces";

export interface User {
  id: string;
  role: string;
}

// Permission check
export function canAccess(user: User, item: Pick<MemoryItem, "visibility" | "allowedRoles"> & { source: MemoryItem["source"] }): boolean {
  if (item.visibility === 'team') return true;
  if (item.visibility === 'private') {
    return item.source.authorId === user.id;
  }
  if (item.visibility === 'role') {
    return item.allowedRoles!.includes(user.role);
  }
  return false;
}
