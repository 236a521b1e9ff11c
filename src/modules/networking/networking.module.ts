import { Module } from '@nestjs/common';
import { NetworkingGroup } from './networking.group.js';

@Module({ providers: [{ provide: NetworkingGroup, useFactory: () => new NetworkingGroup() }] })
export class NetworkingModule {}
