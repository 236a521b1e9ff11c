import { ApiFailure, type Api } from './api.js';

/** The address of a server, which may be restarted or down. */
export class ServerAddress implements Api {
  behind: Api | undefined;

  constructor(readonly name: string) {}

  createNamespace: Api['createNamespace'] = async (name) => this.server().createNamespace(name);
  create: Api['create'] = async (...args) => this.server().create(...args);
  update: Api['update'] = async (...args) => this.server().update(...args);
  patch: Api['patch'] = async (...args) => this.server().patch(...args);
  remove: Api['remove'] = async (...args) => this.server().remove(...args);
  removeAll: Api['removeAll'] = async (...args) => this.server().removeAll(...args);
  get: Api['get'] = async (...args) => this.server().get(...args);
  list: Api['list'] = async (...args) => this.server().list(...args);
  watch: Api['watch'] = async (...args) => this.server().watch(...args);

  private server(): Api {
    if (!this.behind) throw new ApiFailure(0, 'Unreachable', `${this.name} is down`);
    return this.behind;
  }
}
