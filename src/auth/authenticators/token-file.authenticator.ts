import { createHash, timingSafeEqual } from 'node:crypto';
import { allAuthenticated, type UserInfo } from '../../machinery/user-info.js';
import type { Authenticator } from '../authenticator.js';
import { defineAuthenticator } from '../authenticator-definition.js';

export const tokenFile = defineAuthenticator({
  name: 'token-file',
  make: ({ config, tokenFile: text }) =>
    text === undefined
      ? undefined
      : tokenFileAuthenticator(text, config.authentication.tokenAuthFile ?? 'the token file'),
});

/**
 * Authenticates the static tokens of --token-auth-file, with lines `token,user,uid,"group1,group2"`. The file is read
 * only at start. Tokens are stored as digests, so that neither lookup times nor a core dump reveal them.
 */
function tokenFileAuthenticator(text: string, fileName: string): Authenticator {
  const users = new Map<string, { digest: Buffer; user: UserInfo }>();
  for (const [index, fields] of parseCsv(text).entries()) {
    if (fields.length === 1 && fields[0] === '') continue;
    const [token, name, uid, groups = ''] = fields;
    if (fields.length < 3 || !token || !name) {
      throw new Error(
        `${fileName}: line ${index + 1} needs a token, a user name and a uid: token,user,uid,"group1,group2"`,
      );
    }
    const digest = digestOf(token);
    users.set(digest.toString('base64'), {
      digest,
      user: {
        name,
        uid: uid ?? '',
        groups: [
          ...groups
            .split(',')
            .map((group) => group.trim())
            .filter((group) => group !== ''),
          allAuthenticated,
        ],
        extra: {},
      },
    });
  }
  return {
    reads: 'bearer token',
    authenticate({ bearerToken }) {
      if (bearerToken === undefined) return undefined;
      const digest = digestOf(bearerToken);
      const found = users.get(digest.toString('base64'));
      return found && timingSafeEqual(found.digest, digest) ? { user: found.user } : 'rejected';
    },
  };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Parses lines of comma-separated fields. A field in double quotes may contain commas, and `""` for a quote. */
function parseCsv(text: string): string[][] {
  return text
    .split(/\r?\n/)
    .filter((line, index, lines) => line.trim() !== '' || index < lines.length - 1)
    .map((line) => {
      const fields: string[] = [];
      let field = '';
      let quoted = false;
      for (let i = 0; i < line.length; i++) {
        const char = line[i]!;
        if (quoted) {
          if (char !== '"') field += char;
          else if (line[i + 1] === '"') field += line[++i];
          else quoted = false;
        } else if (char === '"') quoted = true;
        else if (char === ',') {
          fields.push(field.trim());
          field = '';
        } else field += char;
      }
      fields.push(field.trim());
      return fields;
    });
}
