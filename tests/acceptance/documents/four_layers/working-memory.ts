interface WorkingMemory {
  agentId: string;
  currentPlan: string | null;
  activeConstraints: string[];
  taskContext: Record<string, unknown>;
  scratchpad: string[];       // freeform notes the agent writes to itself
  updatedAt: number;
}
