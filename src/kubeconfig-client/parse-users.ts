import { parseDocument } from './parse-kubeconfig.js';
import type { User } from './kubeconfig.js';
import { parseUser } from './parse-user.js';

export interface ParsedUsers {
  /** The file, for messages. */
  readonly location: string;
  readonly users: ReadonlyMap<string, User>;
  /** The user of the current context. */
  readonly currentUser: string | undefined;
}

interface UsersOptions {
  readonly location: string;
  readonly directory: string;
  readonly apiDomain: string;
}

/**
 * Parses all users of a kubeconfig that names hosts by its users. They may have a token, a token file or a client
 * certificate. Throws ClientError.
 */
export function parseUsers(bytes: Uint8Array, options: UsersOptions): ParsedUsers {
  const { document, entries } = parseDocument(bytes, options.location);
  const users = new Map<string, User>();
  for (const [name, fields] of entries('users', 'user')) {
    const user = parseUser(fields, options);
    if (user.plugin)
      throw fields.wrong('exec', 'is not supported here; use a token, tokenFile or a client certificate');
    users.set(name, user);
  }
  const context = document.text('current-context');
  const currentUser = context === undefined ? undefined : entries('contexts', 'context').get(context)?.text('user');
  return { location: options.location, users, currentUser };
}
