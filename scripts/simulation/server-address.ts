import { ApiFailure, type Api } from './api.js';

/** The address of a server, which may be restarted or down. */
export class ServerAddress implements Api {
  behind: Api | undefined;

  constructor(readonly name: string) {}

  createNamespace: Api['createNamespace'] = async (name) => this.knock().createNamespace(name);
  create: Api['create'] = async (...words) => this.knock().create(...words);
  update: Api['update'] = async (...words) => this.knock().update(...words);
  patch: Api['patch'] = async (...words) => this.knock().patch(...words);
  remove: Api['remove'] = async (...words) => this.knock().remove(...words);
  removeAll: Api['removeAll'] = async (...words) => this.knock().removeAll(...words);
  get: Api['get'] = async (...words) => this.knock().get(...words);
  list: Api['list'] = async (...words) => this.knock().list(...words);
  watch: Api['watch'] = async (...words) => this.knock().watch(...words);

  private knock(): Api {
    if (!this.behind) throw new ApiFailure(0, 'Unreachable', `${this.name} is down`);
    return this.behind;
  }
}
