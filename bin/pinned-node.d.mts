export function isRecent(version?: string): boolean;
export function findNode(from: string): string | undefined;
export const noNodeText: string;
export function continueInPinned(from: string, script: string, args: readonly string[]): Promise<number>;
