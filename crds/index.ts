/** THE list of kinds. Definitions, rights, watches and docs follow from it. */
import type { Kind } from './kind.ts';
import { WebServer } from './webserver/index.ts';

export const kinds: readonly Kind[] = [WebServer];
