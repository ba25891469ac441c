/** `npm run reference`: writes docs/reference/ anew from the kinds in crds/. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { referenceFolder, referencePages } from './reference-pages.ts';

const pages = await referencePages();
await mkdir(referenceFolder, { recursive: true });
for (const name of await readdir(referenceFolder)) if (!pages.has(name)) await rm(join(referenceFolder, name));
for (const [name, text] of pages) await writeFile(join(referenceFolder, name), text);
console.log([...pages.keys()].map((name) => `wrote docs/reference/${name}`).join('\n'));
