// The page in Chromium, against a server of the program that was built: what people do with it, what
// hostile documents cannot, and that it speaks to nobody else and says nothing on the console.
// Environment: GROUPERFISH_PROGRAM, GROUPERFISH_SOURCE.
import './test_views.mjs';
import './test_actions.mjs';
import './test_number.mjs';
import './test_work.mjs';
import './test_edits.mjs';
import './test_fields.mjs';
import './test_documents.mjs';
import './test_news.mjs';
import './test_access.mjs';
import './test_week.mjs';
import './test_tweets.mjs';
