"""What the words of an order to an AI mean, in the languages of those who write such orders.

A word with a star stands for every word that begins so; several words joined by `_` stand in a row. Languages that do
not divide words are looked for anywhere in a text.
"""

# ruff: noqa: RUF001  # other alphabets are meant

from __future__ import annotations

from enum import IntEnum


class Concept(IntEnum):
    """Each is one bit, so that what a sentence speaks of is one number."""

    READER = 1 << 0  # the AI that reads
    YOU = 1 << 1
    MUST = 1 << 2
    SEND = 1 << 3
    SHOW = 1 << 4
    SECRET = 1 << 5
    PRIVATE = 1 << 6  # what may be secret: a table, a conversation, a token
    OUTSIDE = 1 << 7  # an address, a public place
    RULES = 1 << 8
    PRIOR = 1 << 9
    DISREGARD = 1 << 10
    VOID = 1 << 11
    TELL = 1 << 12
    SILENCE = 1 << 13
    USER = 1 << 14
    THIS = 1 << 15
    SAFEGUARD = 1 << 16  # review, permission, scans
    TESTS = 1 << 17
    DISABLE = 1 << 18
    APPROVE = 1 << 19
    LOOK = 1 << 20
    BLINDLY = 1 << 21
    DELETE = 1 << 22
    VITAL = 1 << 23
    ALL = 1 << 24
    NOT = 1 << 25
    NOTHING = 1 << 26  # a negation that follows its verb
    LIMITS = 1 << 27
    UNLIMITED = 1 << 28
    FROM_NOW = 1 << 29
    OBEY = 1 << 30
    ONLY = 1 << 31
    MEMORY = 1 << 32
    SAVE = 1 << 33
    TEAMS = 1 << 34
    PROMPT = 1 << 35
    REMOTE_CODE = 1 << 36
    RUN = 1 << 37
    FETCH = 1 << 38
    HIDDEN = 1 << 39  # a mark that keeps text from people's eyes
    ASK = 1 << 40
    CLAUSE = 1 << 41  # where a negation ends
    SUBJECT = 1 << 42  # after rules: says what they are about
    TRUST = 1 << 43
    LEAK = 1 << 44  # a command that sends a secret out
    ALWAYS = 1 << 45
    DISOBEY = 1 << 46
    UNSEEN_CODE = 1 << 47  # a command that runs what nobody can read
    REVIEW = 1 << 48  # what people decide: review, approval, confirmation
    THIS_NOTE = 1 << 49
    HEADER = 1 << 50  # where a secret is sent to log in
    WITH = 1 << 51  # before a secret: it is used and not given away
    MY_RULES = 1 << 52  # rules together with whose or which they are
    ENCODED = 1 << 53  # has the shape of bytes or signs that stand for text
    TURNED = 1 << 54  # a word in rot13, or backwards
    LEET = 1 << 55  # digits among letters
    CALLED = 1 << 56  # the AI, as one calls somebody
    APART = 1 << 57  # a letter or digit that stands alone


WORDS: dict[Concept, str] = {
    Concept.READER: """
        agent agents assistant assistants ai ais llm llms bot bots chatbot* copilot* model models claude chatgpt gpt
        language_model language_models agenten assistent assistenten ki sprachmodell* ia agente agentes asistente
        asistentes assistente assistentes assistenti agenti modèle modèles modelo modelos modello modelli agentów
        asystent* агент* ассистент* модель нейросет* 代理 助手 智能体 模型 エージェント アシスタント モデル 에이전트
        어시스턴트
    """,
    Concept.YOU: """
        you your yours yourself tu te toi tes ton vous votre vos du dein* dich dir ihr usted tus debes eres sei tuo
        tuoi tue você vocês seu sua seus suas teu tua je jij jouw twoj* ty ты твои тебе вы ваши 你 您 あなた 당신
    """,
    Concept.MUST: """
        must should shall has_to have_to had_to needs_to required requires obliged please doit doivent dois devez faut
        debe deben tienen_que tiene_que debes muss müssen soll sollen deve devono devi devem moet moeten musi muszą
        powin* должен должны должна обязан* 必须 务必 请 必ず ください こと 하세요 해야
    """,
    Concept.SEND: """
        send sends sending post posts posting upload uploads uploading forward forwards forwarding email emails mail
        mails transmit transmits submit submits exfiltrat* publish publishes paste pastes pasting share shares leak
        leaks attach attaches wire wires push pushes pushing append appends copy copies copying hand_over confirm_its
        confirm_your enter_the enter_your quote quotes into_the_commit into_a_comment put_the put_them put_it envoie
        envoies envoyer envoyez envoient transmettre transmets transmettez publier publie publient téléverse*
        transfère* copie copier enviar envía envíe envían envia envíen envie enviem enviam mandar manda manden mandan
        publicar publica publiquen subir sube remitir transmitir schick schicke schicken schickt sende senden sendet
        übermittel* veröffentlich* lade_hoch leite weiterleiten invia inviare inviate inviano mandare trasmettere
        carica caricare inoltra* pubblica* stuur stuurt sturen verstuur* verzend* plaats plaatst wyślij prześlij wysł*
        отправь отправить отправьте отправляет пришли перешли загрузи загрузить выложи передай 发送 发给 上传 提交到
        转发 传到 寄到 送信 送って 送る 送り アップロード 転送 전송 보내
    """,
    Concept.SHOW: """
        print prints reveal reveals display displays output outputs show shows list dump dumps disclose discloses
        return returns recite repeat affiche afficher affichez révèle* montre montrer donne donnez muestra mostrar
        muestre revela* revelar imprime zeige zeig anzeigen gib verrate nenne mostra mostrare mostre rivela* toon
        tonen pokaż wyświetl ujawnij покажи выведи раскрой 显示 输出 打印 透露 表示 出力 見せ 출력 보여
    """,
    Concept.SECRET: """
        access_tokens jetons_d'accès jeton_d'accès tokens_de_acceso token_de_acceso zugriffstoken zugangstoken
        token_di_accesso tokens_de_acesso toegangstokens session_cookies login_data credential* secret secrets
        password* passwd passphrase* api_key api_keys private_key private_keys ssh_key ssh_keys access_key access_keys
        access_token api_token secret_key session_token auth_token environment_variable environment_variables
        environment_file env .env recovery_codes keychain database_url root_credentials deploy_key signing_key
        shell_history mot_de_passe mots_de_passe identifiants clés clé_api variables_d'environnement contraseña* clave
        claves credenciales secretos variables_de_entorno passwort passwörter kennwort* zugangsdaten schlüssel
        geheimnis* umgebungsvariablen zugangsschlüssel credenziali chiavi chiave segreti senha* credenciais chaves
        chave segredos wachtwoord* sleutels inloggegevens geheimen hasło hasła klucze пароль пароли паролей ключи ключ
        секреты токены учётные 密钥 密码 密碼 凭证 凭据 机密 秘钥 环境变量 パスワード apiキー 秘密鍵 認証情報 トークン
        環境変数 비밀번호 자격증명
    """,
    Concept.PRIVATE: """
        token tokens cookies keys conversation conversations chat customer_table customer_records customer_data
        customer_list users_table user_table database_dump dump private_notes private_repository private_repositories
        private_note personal_data salary salaries working_tree source_code memories new_memory jetons jeton gesprä*
        conversación 対話 データベース
    """,
    Concept.OUTSIDE: """
        public_channel public_gist public_page public_paste public_tracker public_repo public_repository public_issue
        public_folder public_share public_bucket gist webhook pastebin address_below following_address the_address
        this_address my_address to_me send_me address_in url_below link_below linked_below this_link the_gist
        support_ticket salon_public adresse canal_público dirección adres indirizzo endereço endereco коммерч* адрес
        网址 地址 链接 アドレス url 주소
    """,
    Concept.RULES: """
        limits limitations safeguards boundaries límites einschränkungen grenzen limiti limites beperkingen
        ограничения instruction instructions guideline guidelines guidance directive directives directions restriction
        restrictions guardrail* constraint* rules orders prompt system_message system_prompt safety_rules conversation
        everything_above text_above what_you_were_told everything_you_were_told consigne consignes règles
        instrucciones reglas indicaciones órdenes restricciones anweisung* vorgabe* regeln richtlinien befehle
        instruktion* istruzioni istruzione regole direttive instruções instrucoes regras ordens diretrizes instructies
        regels aanwijzingen richtlijnen instrukcje instrukcj* polece* zasad* инструкц* правила указани* приказ* 指令
        指示 规则 規則 提示词 命令 ルール 지시 명령
    """,
    Concept.PRIOR: """
        previous prior preceding above earlier foregoing initial original so_far up_to_now before_this came_before
        given précédent* qui_précèdent ci-dessus antérieur* anterior anteriores arriba previas previos vorherig*
        vorig* bisherig* obig* früher* precedent* sopra acima prévias eerdere vorige bovenstaande voorgaande
        poprzedni* powyższ* wcześniejsz* предыдущ* прежн* выше вышеуказанн* 之前 以上 先前 上面 前面 これまで 以前
        上記 前の 이전 위의
    """,
    Concept.DISREGARD: """
        ignore disregard forget discard neglect set_aside pay_no_attention stop_following stop_obeying override
        abandon drop_what ignorez ignorer oublie oubliez oublier ignora ignorar ignoren olvida olviden olvidar olvide
        haz_caso_omiso caso_omiso desestima ignoriere ignorier* vergiss vergesst missacht* ignori dimentica
        dimenticare ignorare ignorate trascura esqueça esqueca desconsidere desconsidera negeer vergeet negeren
        zignoruj ignoruj zapomnij игнорируй* игнорировать проигнорируй забудь* забыть 忽略 无视 忘记 忘掉 不要理会
        無視 忘れて 무시
    """,
    Concept.VOID: """
        removed dropped gone abolished levées supprimées eliminadas retiradas abgeschafft rimosse removidas verwijderd
        сняты obsolete outdated void invalid superseded replaced cancelled canceled revoked suspended lifted withdrawn
        expired no_longer don't_count do_not_apply was_a_test were_a_test périmé* obsolète* caduc* annulé* remplacé*
        obsolet* caducad* anulad* ya_no sustituid* veraltet* überholt* ungültig* aufgehoben hinfällig* nicht_mehr
        superate non_valgono annullate não_valem anuladas obsoletas já_não verouderd* vervallen ongeldig* niet_meer
        nieaktualn* nieważn* устарел* недействит* отменен* больше_не 过时 作废 失效 不再有效 無効 期限切れ 古い
    """,
    Concept.TELL: """
        notify warn alert surface bother disturb mentions reports prévenir avertir avertis informer signaler
        mentionner parler informar decir mencionar advertir informieren benachrichtigen melden bescheid avvertire
        dizer informeren waarschuwen informować сообщить рассказать уведомлять tell mention report inform say disclose
        reveal announce bring_up let_on talk note telling mentioning reporting saying informing need_to_know dis dites
        dire parle parlez mentionne* informe* préviens digas diga decirle cuentes contar menciones informes avisar
        avises avisa sag sage sagt sagen verrate verrat erzähl* erwähn* informier* mitteil* dica informare avvisare
        menzionare conte avise vertel vertellen zeg zeggen meld noem mów powiedz говори* сообщай* сообщать
        рассказывай* 知らせ 伝え 告诉 알리
    """,
    Concept.SILENCE: """
        silently covertly secretly between_us to_yourself keep_quiet without_telling unnoticed leave_it_out
        leave_this_out keep_this_secret hide_the_following hide_this hide_it tell_nobody tell_no_one say_nothing
        nobody_notices no_one_notices need_not_know don't_need_to_know does_not_need_to_know en_secret discrètement
        en_secreto heimlich stillschweigend verschweig* di_nascosto em_segredo secretamente stiekem niemand_vertel*
        potajemnie тайно втайне скрой 不要告诉 别告诉 不能告诉 不要让用户 不得告知 不要提及 保密 知らせない 伝えない
        言わない 秘密です 秘密に 内緒 教えない 알리지
    """,
    Concept.USER: """
        user users human humans person people operator anyone anybody nobody no_one maintainer maintainers owner
        utilisateur* usuario* benutzer* nutzer* utente utenti usuário* usuario gebruiker* użytkownik* пользовател*
        оператор* 用户 用戶 人类 ユーザー 利用者 사용자
    """,
    Concept.THIS: """
        paragraph this these it following ceci cela celles-ci ceux-ci cette ce en esto esta este ello lo dies* davon
        das diese questo questa queste isto isso deze dit dat hier ze tę ten tym to это этой этом этот об_этом 这 此
        本 これ この 이
    """,
    Concept.SAFEGUARD: """
        safety branch_protection secret_scan* secret_scanner scanner screening no-verify safeguard* verify_ssl
        ssl_verification safety_filters sécurité seguridad sicherheit* sicurezza segurança beveiliging безопасност*
        安全 セキュリティ
    """,
    Concept.REVIEW: """
        review reviews approval approvals confirmation confirmations permission permissions consent approbation
        relecture autorisation revisión aprobación permiso confirmación prüfung* freigabe genehmigung erlaubnis
        bestätigung revisione approvazione permesso revisão aprovação permissão beoordeling goedkeuring toestemming
        проверк* разрешени* 审核 审查 权限 確認 許可 승인
    """,
    Concept.TESTS: """
        tests test linter lint check checks assertions assertion pipeline hooks pruebas prüfungen kontroll* controles
        controllo controlli testes verificações controle тесты проверки 测试 检查 テスト 検査
    """,
    Concept.DISABLE: """
        disable disables disabling turn_off turns_off turning_off switch_off switches_off skip skips skipping bypass
        bypasses deactivate* comment_out comments_out to_false désactive* désactiver contourne* desactiv* omitir omite
        omitan deshabilit* abschalten deaktivier* ausschalten schalte schaltet umgeh* überspring* disattiva*
        disabilita* salta saltare desativ* desabilit* pule ignore uitschakel* schakel zet omzeil* wyłącz* pomiń
        отключи* выключи* обойди 关闭 禁用 跳过 绕过 無効にし オフに スキップ 비활성
    """,
    Concept.APPROVE: """
        approve approves approving accept accepts merge merges lgtm sign_off wave_through mark_as_approved as_approved
        approuve* accepte* valide* aprobar aprueba* aprueben acepta* genehmig* akzeptier* freigeben approva* accetta*
        aprov* aceit* keur keurt goedkeuren zatwierdź akceptuj одобр* принимай* 批准 通过 同意 承認 승인
    """,
    Concept.LOOK: """
        review reviewing look looking check checking reading reviewed ask asking confirming confirmation question
        questions approval looking_at relire vérifier demander revisión revisar revisarlo revisarlos mirar preguntar
        prüfung prüfen fragen rückfrage nachfrage revisione controllare chiedere perguntar revisão controle vragen
        kijken beoordeling проверки спрашивая вопросов 审查 审核 检查
    """,
    Concept.BLINDLY: """
        regardless blindly no_matter unconditionally no_confirmation no_approval no_review aveuglément ciegamente
        a_ciegas blind blindlings bedingungslos ciecamente cegamente blindelings слепо 无条件 無条件 直接批准
    """,
    Concept.DELETE: """
        delete deletes deleting drop drops wipe wipes erase erases remove removes destroy destroys purge purges
        force-push rm truncate overwrite supprime* supprimer efface* effacer borra borrar borre borren elimina
        eliminar lösche* lösch löschen entferne* cancella cancellare eliminare apague apagar exclua excluir verwijder*
        wis wissen usuń удали* удалить сотри стереть 删除 清除 抹除 削除 消去 삭제
    """,
    Concept.VITAL: """
        production backup backups audit database databases data_directory everything tables repository repositories
        main home sauvegardes journaux base_de_données respaldos registros copias sicherung* protokoll* datenbank*
        registri registro backup's logboeken databank журнал* баз* бэкап* резервн* 日志 数据库 备份 ログ バックアップ
        データベース 로그 tests_that_fail failing_tests failing
    """,
    Concept.ALL: """
        all every everything each any anything toutes tous tout toute todas todos todo toda alle alles jede* jeder
        sämtlich* tutte tutti tutto tudo elke ieder* wszystk* все всё всех каждый 所有 全部 任何 すべて 全て 모든
    """,
    Concept.NOT: """
        not never don't dont without no nor cannot can't n't mustn't ne n jamais sans ni pas aucun aucune nunca sin
        ningún ningun ninguna nicht nie niemals ohne kein keine keinen non mai senza nessun* não nao sem niet nooit
        zonder geen bez не без никогда
    """,
    Concept.NOTHING: "nichts nicht niets niet rien nada nulla niente nic ничего",
    Concept.LIMITS: """
        limits limit restrictions restriction limitations filters guardrails limite limites restricciones límites
        restricción einschränkung* beschränkung* grenzen restrizioni limiti restrições beperking* ogranicze*
        ограничен*
    """,
    Concept.UNLIMITED: """
        unrestricted unfiltered uncensored jailbroken unlimited 没有任何限制 没有限制 不受限制 制限なし
        制限はありません
    """,
    Concept.FROM_NOW: """
        from_now from_here_on from_this_point starting_now as_of_now henceforth now désormais à_partir_de_maintenant
        dorénavant a_partir_de_ahora desde_ahora ahora ab_sofort ab_jetzt von_nun_an nun d'ora_in_poi da_ora da_adesso
        a_partir_de_agora de_agora vanaf_nu voortaan od_teraz отныне с_этого_момента теперь 从现在 今后 从此 今から
        これから act_as pretend_to_be 지금부터
    """,
    Concept.OBEY: """
        obey obeys comply follow follows act_on carry_out answer_only do_what do_as listen_to suis suivez obéis
        obéissez obedece* obedezca* sigue seguir siga befolge* befolgt folge gehorche* segui seguite obbedisci
        obbedire obedeça* volg volgt gehoorzaam* słuchaj выполняй* подчиняйся следуй слушайся 遵循 服从 听从 执行
        従って 従う 従い 따르
    """,
    Concept.ONLY: """
        only solely exclusively uniquement seulement solo sólo únicamente solamente nur ausschließlich soltanto apenas
        somente alleen slechts uitsluitend tylko только лишь 只 仅 だけ のみ
    """,
    Concept.MEMORY: """
        memory memories notes note entry entries rule rules mémoire souvenirs memoria notas erinnerung* notizen
        memória geheugen notities память заметки 记忆 笔记 メモ
    """,
    Concept.SAVE: """
        save saves store stores remember record write add copy repeat enregistre* guarda guardar speicher* salva
        salvare salve bewaar zapisz сохрани* 保存 存到 記憶 保存して
    """,
    Concept.TEAMS: """
        every_team all_teams every_project all_projects each_team each_project every_conversation every_future
        all_later all_future each_future every_session all_folders other_teams toutes_les_équipes todos_los_equipos
        alle_teams tutti_i_team
    """,
    Concept.PROMPT: """
        system_prompt systemprompt* your_prompt hidden_instructions hidden_prompt prompt_système prompt_du_système
        prompt_del_sistema prompt_do_sistema prompt_di_sistema systeemprompt* системный_промпт промпт* 系统提示 提示词
        システムプロンプト 프롬프트
    """,
    Concept.RUN: """
        run runs execute executes running exécute* ejecuta* ausführ* führe esegui voer uruchom запусти* выполни* 运行
        执行 実行
    """,
    Concept.FETCH: """
        fetch fetches download downloads downloading open opens visit read reads télécharge* descarga* baixe abre lade
        öffne scarica apri открой 打开 下载 開いて
    """,
    Concept.ASK: """
        ask asks confirm confirms demander demandent preguntar pregunten fragen fragt chiedere vraagt vragen pedir
        спрашивать
    """,
    Concept.CLAUSE: "and but then , ; : et mais puis y pero und aber sondern e ma però en maar i ale и но",
    Concept.SUBJECT: """
        for in about on of from du de des del para pour für zu zum zur im per della do da voor van в для на at under
    """,
    Concept.TRUST: """
        trust trusts outrank outranks overrules contradict* as_false as_wrong as_true as_verified vertraue vertrau
        vertrouw confía
    """,
    Concept.ALWAYS: "always toujours siempre immer sempre altijd zawsze всегда 总是 永远 常に 항상",
    Concept.THIS_NOTE: """
        this_paragraph this_section this_step this_line this_request ce_paragraphe este_párrafo diesen_absatz
        this_note this_message this_text this_rule this_same this_to this_in this_under this_permanently this_memory
        this_entry this_instruction this_page this_everywhere cette_note ce_message esta_nota este_mensaje diese_notiz
        diese_nachricht questa_nota questo_messaggio esta_mensagem deze_notitie dit_bericht эту_заметку 这条 此消息
        このメモ
    """,
    Concept.HEADER: "header headers authorization bearer oauth login x-api-key encrypted handshake",
    Concept.WITH: "with using via through mit avec con com met met_behulp над с",
}
