//! # Idea
//! A part of a run, written down with everything that `selvedge merge` needs: the settings, the texts and
//! every answer.

use super::analyse::Analysed;
use super::finish::Aside;
use super::settings::Settings;
use selvedge_library::file::Loaded;
use selvedge_library::shard::stored::{
    StoredAnswers, StoredFile, StoredOptions, StoredShard, StoredSource, StoredText,
};
use selvedge_library::shard::{FilePart, Shard};

/// What a part is of.
pub struct StoredPart<'a> {
    /// Which part.
    pub shard: Shard,
    /// What the run is to do.
    pub settings: &'a Settings,
    /// How many steps the analysis of one file may take.
    pub max_work: Option<u64>,
}

impl StoredPart<'_> {
    /// The part as JSON; `identities` are what tells the files from each other.
    pub fn render(
        &self,
        loaded: &[Loaded],
        identities: &[String],
        other_files: usize,
        few_interleavings: bool,
        analysed: &Analysed,
        aside: &Aside<'_>,
    ) -> String {
        let Self { shard, settings, max_work } = *self;
        let baseline = settings.baseline.as_ref();
        let baseline = baseline.map(|baseline| StoredText {
            // Its folder is where it was, and nobody needs it any more.
            name: "baseline".to_owned(),
            text: baseline.render(),
        });
        let mut files: Vec<StoredFile> = loaded
            .iter()
            .zip(identities)
            .map(|(file, identity)| self.file(file, identity, aside))
            .collect();
        for part in &analysed.parts {
            let file = &mut files[part.number];
            file.not_reproducible = part.not_reproducible;
            if let Some(java) = &part.java {
                file.java = Some(java.clone());
                file.java_stopped = part.stopped;
                continue;
            }
            match (&part.answers, &loaded[part.number].program) {
                (Ok(answers), Some(program)) => {
                    file.answers = Some(StoredAnswers::new(answers, part.stopped, program));
                }
                (Err(bug), _) => file.bug = Some(bug.clone()),
                (Ok(_), None) => {}
            }
        }
        let stored = StoredShard {
            index: shard.index(),
            count: shard.count(),
            options: StoredOptions::new(
                &settings.options,
                max_work,
                settings.timeout,
                settings.memory,
            ),
            config: settings.config.as_ref().map(|config| (&config.text).into()),
            baseline,
            restrictions: settings.restriction_texts.clone(),
            other_files,
            few_interleavings,
            files,
        };
        stored.render()
    }

    fn file(&self, file: &Loaded, identity: &str, aside: &Aside<'_>) -> StoredFile {
        let name = &file.text.name;
        let mut source = StoredSource::new(file, identity != "-");
        let unread = file.stopped.then(|| file.complaints[0].message.clone());
        let part = FilePart { shard: self.shard, identity };
        let sha256 = source.sha256();
        source.name_for_config = aside.config.map(|_| (aside.name_for_config)(name));
        source.name_for_baseline = aside.baseline.map(|_| (aside.name_for_baseline)(name));
        let source = (part.counts_rest() && unread.is_none()).then_some(source);
        let (identity, file) = (identity.to_owned(), name.clone());
        StoredFile {
            file,
            identity,
            sha256,
            source,
            unread,
            answers: None,
            java: None,
            java_stopped: false,
            not_reproducible: false,
            bug: None,
        }
    }
}
