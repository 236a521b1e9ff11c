/** Of this program; a test holds it equal to package.json. */
export const productVersion = '0.1.0';

/** Of the API that is served. */
export const apiVersion = { major: '1', minor: '37', gitVersion: 'v1.37.0+keelson' } as const;
