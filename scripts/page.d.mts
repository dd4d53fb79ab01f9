export function pageParts(): Promise<{ define: Record<string, string>; inputs: string[] }>;
