// What JSON carries of a type: a date travels as text.
import type { MemoryItem } from "./interfaces";

export type Recorded<T> = T extends Date ? string : T extends object ? { [Name in keyof T]: Recorded<T[Name]> } : T;

export interface TreeResponse {
  items: MemoryItem[];
  subdirs: string[];
}

export interface SearchResponse {
  results: {
    item: MemoryItem;
    score: number;        // similarity
    highlight: string;    // matching snippet
  }[];
}

export interface AgentContext {
  teamContext: MemoryItem[];
  projectMemory: MemoryItem[];
  recentDecisions: MemoryItem[];
}

// Names of our own are allowed beside the document's, which an object literal would not be.
export function holds<Known>() {
  return <Answer extends Recorded<Known>>(answer: Answer): Answer => answer;
}
