export const coreVersion = { group: '', version: 'v1' } as const;
