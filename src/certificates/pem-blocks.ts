export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const block = /-----BEGIN ([^\n]*?)-----[ \t]*\r?\n([\s\S]*?)-----END \1-----/g;
const headers = /^(?:[^\n:]+:[^\n]*\r?\n)+\s*/;

/** The blocks of a PEM text, whatever stands between them. What is not base64 is no block. */
export function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(block)].flatMap(([, type = '', body = '']) => {
    const content = body.replace(headers, '');
    if (!/^[A-Za-z0-9+/\s]*=*\s*$/.test(content)) return [];
    return [{ type, hasHeaders: content !== body, bytes: Buffer.from(content, 'base64') }];
  });
}
