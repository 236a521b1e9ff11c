export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const block = /-----BEGIN ([^\n]*?)-----[ \t]*\r?\n([\s\S]*?)-----END \1-----/g;
const headers = /^(?:[^\n:]+:[^\n]*\r?\n)+\s*/;

/** Returns the PEM blocks of a text, ignoring text between them and blocks that are not base64. */
export function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(block)].flatMap(([, type = '', body = '']) => {
    const content = body.replace(headers, '');
    if (!/^[A-Za-z0-9+/\s]*=*\s*$/.test(content)) return [];
    return [{ type, hasHeaders: content !== body, bytes: Buffer.from(content, 'base64') }];
  });
}
